// Shows each time of the receipt in the shopper's own zone, with UTC beside it.
const { lang } = document.documentElement
const CLOCK_TIME = { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' }
const localTime = new Intl.DateTimeFormat(lang, {
  year: 'numeric',
  month: 'long',
  day: 'numeric',
  ...CLOCK_TIME,
})
const utcTime = new Intl.DateTimeFormat(lang, { ...CLOCK_TIME, timeZone: 'UTC' })

for (const time of document.querySelectorAll('time')) {
  const at = new Date(time.dateTime)
  // In a zone that equals UTC there is nothing to add.
  if (at.getTimezoneOffset() === 0) continue
  const utc = document.createElement('span')
  utc.className = 'quiet'
  const isSameDay = at.getDate() === at.getUTCDate()
  utc.textContent = `(${isSameDay ? utcTime.format(at) : time.textContent})`
  time.textContent = localTime.format(at)
  time.after(' ', utc)
}
