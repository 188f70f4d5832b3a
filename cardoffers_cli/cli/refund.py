"""`cardoffers refund`: what came back, from the file on."""

from cardoffers_cli.cli.importing import import_refunds
from cardoffers_cli.cli.kernel.commands import group

app = group("Take refunds in.")
app.command("import")(import_refunds)
