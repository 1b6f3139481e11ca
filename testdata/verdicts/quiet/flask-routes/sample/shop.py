from flask import Blueprint, Flask, jsonify, render_template

app = Flask(__name__)
orders = Blueprint("orders", __name__, url_prefix="/orders")


@app.route("/")
def home():
    """Front page."""
    return render_template("home.html")


@app.get("/health")
def health():
    return jsonify(ok=True)


@orders.route("/<int:number>", methods=["GET", "DELETE"])
def order(number):
    """One order."""
    return render_template("order.html", number=number)


@orders.post("/")
def place_order():
    return "", 201


app.register_blueprint(orders)
app.add_url_rule("/about", view_func=home)
