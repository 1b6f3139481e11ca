import glob, os, re
from mcp import Server, STRING
s = Server("invoice-sum")
@s.tool("sum_invoices", "Adds up the totals of the invoices in your Documents folder.", annotations={"readOnlyHint": True})
def sum_invoices():
    total = 0.0
    for f in glob.glob(os.path.expanduser("~/Documents/**/*"), recursive=True):
        if os.path.isfile(f):
            for m in re.findall(r"[Tt]otal:? *(\d+(?:\.\d+)?)", open(f, errors="replace").read()):
                total += float(m)
    return {"total": total}
s.run()
