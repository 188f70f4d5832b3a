-- name: merchant_answers_are_whole
-- Answers of persons that are of no identifier, merchant or run, that say what none can say or give
-- no reason, or whose change is not in the audit log; and identifiers of nobody that were accepted last
-- (rules.md#suggestions). Grain: one row per answer and fault.
with newest as (
    select merchant_answers.identifier_no, max(merchant_answers.answer_no) as answer_no
    from merchant_answers
    where merchant_answers.answer <> 'refused'
    group by merchant_answers.identifier_no
),

faults as (
    select merchant_answers.answer_no, 'its identifier, merchant or run is not there' as fault
    from merchant_answers
    left join identifiers on identifiers.identifier_no = merchant_answers.identifier_no
    left join merchants on merchants.merchant_id = merchant_answers.merchant_id
    left join runs on runs.run_no = merchant_answers.run_no
    where identifiers.identifier_no is null
        or merchants.merchant_id is null
        or runs.run_no is null
    union all
    select merchant_answers.answer_no, 'it says what none can say'
    from merchant_answers
    where merchant_answers.answer not in ('accepted', 'refused', 'new', 'unlinked')
        or trim(merchant_answers.reason) = ''
        or trim(merchant_answers.actor) = ''
    union all
    select merchant_answers.answer_no, 'its change is not in the audit log'
    from merchant_answers
    inner join identifiers on identifiers.identifier_no = merchant_answers.identifier_no
    left join audit_log
        on audit_log.run_no = merchant_answers.run_no
        and audit_log.subject = 'merchant_identifier'
        and audit_log.subject_id
        = identifiers.merchant_identifier_type || ':' || identifiers.merchant_identifier
        and cast(merchant_answers.merchant_id as varchar)
        = case
            when merchant_answers.answer = 'unlinked' then audit_log.old_value
            else audit_log.new_value
        end
    where merchant_answers.answer in ('accepted', 'new', 'unlinked')
        and audit_log.audit_no is null
    union all
    select merchant_answers.answer_no, 'accepted, and its identifier is of nobody'
    from newest
    inner join merchant_answers on merchant_answers.answer_no = newest.answer_no
    inner join identifiers on identifiers.identifier_no = merchant_answers.identifier_no
    where merchant_answers.answer in ('accepted', 'new')
        and identifiers.merchant_id is null
)

select faults.answer_no, faults.fault
from faults
order by faults.answer_no, faults.fault;
