const POLL_MS = 1500

const { lang, dataset } = document.documentElement
const HOUR = { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' }
const DAY = { day: 'numeric', month: 'short' }
const SHAPES = {
  day: new Intl.DateTimeFormat(dataset.days, DAY),
  moment: new Intl.DateTimeFormat(lang, { ...DAY, year: 'numeric', ...HOUR }),
  clock: new Intl.DateTimeFormat(lang, { ...HOUR, second: '2-digit' }),
}

/** Shows times in the visitor's own zone. */
function localise(page) {
  for (const time of page.querySelectorAll('time[data-local]')) {
    time.textContent = SHAPES[time.dataset.local].format(new Date(time.dateTime))
  }
}

/** Updates the parts of the page that have changed. */
async function refresh() {
  const answer = await fetch('/live')
  if (!answer.ok) return
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html')
  localise(fresh)
  for (const part of document.querySelectorAll('[data-live]')) {
    const newPart = fresh.getElementById(part.id)
    if (!newPart || newPart.innerHTML === part.innerHTML) continue
    if (part.dataset.live === 'list') addNew(part, newPart)
    else replace(part, newPart)
  }
}

/** Replaces the content. If a control in it has the focus, its new version gets the focus. */
function replace(part, newPart) {
  const focusedHtml = part.contains(document.activeElement) ? document.activeElement.outerHTML : undefined
  part.replaceChildren(...newPart.childNodes)
  if (focusedHtml === undefined) return
  const newVersion = [...part.querySelectorAll('button, a')].find(
    ({ outerHTML }) => outerHTML === focusedHtml,
  )
  newVersion?.focus()
}

/** Adds new entries and keeps the elements of existing ones, so opened details stay open. */
function addNew(part, newPart) {
  const existing = new Map([...part.children].map((child) => [child.id, child]))
  part.replaceChildren(...[...newPart.children].map((child) => existing.get(child.id) ?? child))
}

// If the form or the pressed button is marked as quiet, sends the button's good without leaving the page.
document.addEventListener('submit', (event) => {
  const { target, submitter } = event
  if (!target.hasAttribute('data-quiet') && !submitter?.hasAttribute('data-quiet')) return
  event.preventDefault()
  const body = new URLSearchParams({ good: submitter.value })
  fetch(submitter.hasAttribute('formaction') ? submitter.formAction : target.action, { method: 'POST', body })
    .then(refresh)
    .catch(() => location.reload())
})

localise(document)

const settings = document.querySelector('[data-settings]')
settings.classList.add('live')
settings.addEventListener('change', () => settings.requestSubmit())

const paid = document.querySelector('[data-paid]')
document.addEventListener('tradetill:done', (event) => {
  event.preventDefault()
  location.assign(paid.dataset.paid)
})

if (document.querySelector('[data-live]')) {
  setInterval(() => {
    if (!document.hidden) refresh().catch(() => {})
  }, POLL_MS)
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) refresh().catch(() => {})
  })
}
