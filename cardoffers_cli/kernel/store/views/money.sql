-- Amounts: rounding, the commission, and how an amount is written.

-- name: round_to_minor_unit
-- An amount rounded half up (amounts are not negative) to 0, 2, 3 or 4 decimals. Each branch is
-- cast: left alone, the result would take the scale of the first one.
create or replace macro round_to_minor_unit(amount, minor_unit) as case minor_unit
    when 0 then cast(round(amount, 0) as decimal(18, 4))
    when 2 then cast(round(amount, 2) as decimal(18, 4))
    when 3 then cast(round(amount, 3) as decimal(18, 4))
    when 4 then cast(round(amount, 4) as decimal(18, 4))
end;

-- name: commission_of
-- The commission on one redemption: the one place of the formula in SQL (rules.md#ledger-amounts). Widened
-- to 38 digits before the multiplication.
create or replace macro commission_of(cashback_amount, commission_rate, minor_unit) as
    round_to_minor_unit(cast(cashback_amount as decimal(28, 4)) * commission_rate, minor_unit);

-- name: amount_text
-- An amount as a number token with exactly its currency's decimals.
create or replace macro amount_text(amount, minor_unit) as case minor_unit
    when 0 then cast(cast(amount as decimal(18, 0)) as varchar)
    when 2 then cast(cast(amount as decimal(18, 2)) as varchar)
    when 3 then cast(cast(amount as decimal(18, 3)) as varchar)
    when 4 then cast(amount as varchar)
end;
