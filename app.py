"""The Space: a page that shows a score and why it is what it is. Run it with ``python app.py``."""

from anls_metric.page.server import build, launch

demo = build()

if __name__ == "__main__":
    launch(demo)
