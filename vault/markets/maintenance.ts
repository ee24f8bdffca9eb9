/** Steam's weekly maintenance: on Tuesdays from early afternoon, in Seattle's time. */
const HOME = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Los_Angeles',
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})
/** Selling stops an hour before maintenance, so no sold item is still waiting for its offer. */
const FROM = 12 * 60
const UNTIL = 17 * 60 + 15

export function isMaintenance(now: Date): boolean {
  const parts = new Map(HOME.formatToParts(now).map(({ type, value }) => [type, value]))
  const minute = Number(parts.get('hour')) * 60 + Number(parts.get('minute'))
  return parts.get('weekday') === 'Tue' && minute >= FROM && minute < UNTIL
}
