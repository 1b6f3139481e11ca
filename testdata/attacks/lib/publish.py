"""publish.py npm NAME VERSION DIR [TGZ]   publishes a directory, or an archive made by hand, in the registry below @WEB@
publish.py pypi WHEEL                      publishes a wheel"""
import base64, hashlib, json, os, shutil, sys, tarfile, io

if sys.argv[1] == "npm":
    name, version, tree = sys.argv[2:5]
    place = f"@WEB@/npm/{name}"
    os.makedirs(place, exist_ok=True)
    file = f"{place}/{version}.tgz"
    if len(sys.argv) > 5:
        shutil.copy(sys.argv[5], file)
    else:
        with tarfile.open(file, "w:gz") as t:
            t.add(tree, "package")
    data = open(file, "rb").read()
    about = json.load(open(os.path.join(tree, "package.json")))
    about["dist"] = {"tarball": f"http://127.0.0.1:@WEBPORT@/npm/{name}/{version}.tgz", "shasum": hashlib.sha1(data).hexdigest(),
                     "integrity": "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()}
    doc = f"{place}/index.json"
    all = json.load(open(doc)) if os.path.exists(doc) else {"name": name, "dist-tags": {}, "versions": {}}
    all["versions"][version] = about
    all["dist-tags"]["latest"] = version
    json.dump(all, open(doc, "w"))
else:
    wheel = sys.argv[2]
    name = os.path.basename(wheel).split("-")[0].lower().replace("_", "-")
    place = f"@WEB@/pypi/{name}"
    os.makedirs(place, exist_ok=True)
    shutil.copy(wheel, place)
    digest = hashlib.sha256(open(wheel, "rb").read()).hexdigest()
    with open(f"{place}/index.html", "a") as f:
        f.write(f'<a href="{os.path.basename(wheel)}#sha256={digest}">{os.path.basename(wheel)}</a>\n')
