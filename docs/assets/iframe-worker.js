// A browser starts no worker for a page of a file. So that search works there too, its script runs in a frame, which
// listens and answers as a worker does.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #inside = null
    #waiting = []

    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "Search"
      frame.addEventListener("load", () => this.#start(frame.contentWindow, url), { once: true })
      document.body.append(frame)
    }

    #start(inside, url) {
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      inside.importScripts = async (...urls) => {
        for (const one of urls) await load(inside, one)
      }
      load(inside, url).then(() => {
        this.#inside = inside
        for (const data of this.#waiting) this.#tell(data)
      })
    }

    #tell(data) {
      this.#inside.dispatchEvent(new MessageEvent("message", { data }))
    }

    postMessage(data) {
      if (this.#inside) this.#tell(data)
      else this.#waiting.push(data)
    }
  }

  const load = (inside, url) =>
    new Promise((done, failed) => {
      const script = inside.document.createElement("script")
      script.src = url
      script.onload = done
      script.onerror = failed
      inside.document.head.append(script)
    })
}
