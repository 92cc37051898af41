"""The Space: a page that scores answers and explains the scores. Run it with ``python app.py``."""

from anls_metric.page.server import build, launch

demo = build()

if __name__ == "__main__":
    launch(demo)
