;(() => {
  const tag = 'tradetill-deposit'
  if (customElements.get(tag)) return
  const till = new URL(document.currentScript.src).origin
  const root = document.documentElement
  const say = (en, ru) => (/^ru/i.test(root.lang || navigator.language) ? ru : en)
  const title = say('Payment with game items', 'Оплата предметами')
  const isNarrow = () => innerWidth < 600

  function addressOf(src) {
    const { origin, href } = new URL(src, till)
    if (origin !== till) throw new TypeError(`${tag}: ${href} is not of ${till}`)
    return href
  }

  function make(name, facts, style) {
    const element = Object.assign(document.createElement(name), facts)
    element.style.cssText = style
    return element
  }

  class Deposit extends HTMLElement {
    connectedCallback() {
      const href = addressOf(this.getAttribute('src'))
      const isModal = this.getAttribute('mode') === 'modal'
      let settle
      this.ready = new Promise((resolve) => (settle = resolve))
      const tell = (type, detail) =>
        this.dispatchEvent(new CustomEvent(`tradetill:${type}`, { detail, bubbles: true, cancelable: true }))
      const report = (type) => settle(type, tell(type))
      const textContent = say('Open the payment page', 'Открыть страницу оплаты')
      const link = make('a', { href, textContent }, 'display:block;padding:1em')
      this.style.display = 'block'
      if (isNarrow()) {
        this.append(link)
        return report('link')
      }

      const { activeElement } = document
      const { overflow } = root.style
      let question
      const close = (detail = {}) => {
        if (!tell('close', detail)) return
        if (isModal) this.remove()
        else if (detail.url) location.assign(detail.url)
      }
      this.close = () => close()
      const ask = () => (!question || confirm(question)) && close()

      const frame = make('iframe', { title }, 'display:block;border:0;width:100%;height:480px;flex:1')
      frame.sandbox =
        'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox'
      frame.allow = 'clipboard-write; autoplay'
      frame.referrerPolicy = 'no-referrer'
      frame.src = href
      let box = this
      if (isModal) {
        box = make(
          'dialog',
          { ariaLabel: title, onclose: this.close },
          'display:flex;flex-direction:column;width:75em;height:100vh;padding:0;border:0;color-scheme:light dark;box-shadow:0 0 0 100vmax #000a',
        )
        const facts = { textContent: '✕', ariaLabel: say('Close', 'Закрыть'), onclick: ask }
        box.append(make('button', facts, 'align-self:end;padding:.5em 1em'))
        box.oncancel = (event) => event.preventDefault(ask())
        this.append(box)
        box.showModal()
        root.style.overflow = 'hidden'
      }
      box.append(frame)

      const take = ({ data: { type, detail, question: asked = question } }) => {
        question = asked
        if (type === 'escape') return isModal && ask()
        if (type === 'close') return close(detail)
        if (type === 'resize' && !isModal)
          frame.style.height = `${Math.max(480, Math.min(detail.height, innerHeight))}px`
        if (tell(type, detail) && type === 'done' && detail.redirectUrl) location.assign(detail.redirectUrl)
      }

      let port
      const failed = setTimeout(() => {
        console.error(
          `${tag}: no answer in 8 s. Needs "frame-src ${till}" in the Content-Security-Policy, embedOrigin "${location.origin}" in the deposit.`,
        )
        box.prepend(link)
        report('load_failed')
      }, 8000)
      const hear = ({ source, origin, data }) => {
        if (source !== frame.contentWindow || origin !== till || data?.tradetill !== 1) return
        const { port1, port2 } = new MessageChannel()
        port?.close()
        source.postMessage({ tradetill: 1 }, till, [port2])
        port1.onmessage = take
        if (!port) {
          clearTimeout(failed)
          link.remove()
          if (isModal) frame.focus()
          report('ready')
        }
        port = port1
      }
      addEventListener('message', hear)
      this.end = () => {
        removeEventListener('message', hear)
        clearTimeout(failed)
        port?.close()
        this.replaceChildren()
        if (!isModal) return
        root.style.overflow = overflow
        activeElement?.focus()
      }
    }

    disconnectedCallback() {
      this.end?.()
    }
  }

  customElements.define(tag, Deposit)

  window.tradetill = {
    open(src, { mode = 'modal', target = document.body } = {}) {
      const element = make(tag, {}, '')
      const href = addressOf(src)
      element.setAttribute('src', href)
      element.setAttribute('mode', mode)
      if (isNarrow()) {
        element.ready = Promise.resolve('opened')
        location.assign(href)
      } else target.append(element)
      return element
    },
  }
})()
