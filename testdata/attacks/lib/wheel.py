"""wheel.py NAME VERSION MODULE:FUNCTION INSIDE=FILE…   publishes a wheel with these files, whatever their names"""
import subprocess, sys, zipfile, os

name, version, entry = sys.argv[1:4]
info = f"{name}-{version}.dist-info"
file = f"@WEB@/{name}-{version}-py3-none-any.whl"
with zipfile.ZipFile(file, "w") as z:
    record = ""
    for pair in sys.argv[4:]:
        inside, source = pair.split("=", 1)
        z.writestr(zipfile.ZipInfo(inside), open(source, "rb").read())
        record += inside + ",,\n"
    z.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    z.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr(f"{info}/entry_points.txt", f"[console_scripts]\n{name} = {entry}\n")
    z.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "publish.py"), "pypi", file], check=True)
os.remove(file)
