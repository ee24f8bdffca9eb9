const POLL_MS = 1500

for (const button of document.querySelectorAll('button[data-copy]')) {
  button.addEventListener('click', async () => {
    const label = button.firstChild
    try {
      await navigator.clipboard.writeText(button.dataset.copy)
      label.textContent = 'Copied'
    } catch {
      button.previousElementSibling.select()
      label.textContent = 'Press Ctrl+C'
    }
    setTimeout(() => {
      label.textContent = 'Copy'
    }, 2000)
  })
}

/** Puts in the parts that changed since the page was loaded. */
async function refresh() {
  const answer = await fetch('/live')
  if (!answer.ok) return
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
  for (const part of document.querySelectorAll('[data-live]')) {
    const next = fresh.getElementById(part.id)
    if (next && next.innerHTML !== part.innerHTML) part.replaceChildren(...next.childNodes)
  }
}

if (document.querySelector('[data-live]')) {
  setInterval(() => {
    if (!document.hidden) refresh().catch(() => {})
  }, POLL_MS)
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) refresh().catch(() => {})
  })
}
