/** Steam's weekly maintenance: on Tuesdays from early afternoon, in Seattle's time. */
const SEATTLE = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Los_Angeles',
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})
/** Minutes of the day. Selling stops an hour early, so no sold item awaits its offer when the maintenance begins. */
const FROM_MINUTE = 12 * 60
const UNTIL_MINUTE = 17 * 60 + 15

/** True while nothing may be sold because of the maintenance. */
export function isMaintenance(now: Date): boolean {
  const parts = new Map(SEATTLE.formatToParts(now).map(({ type, value }) => [type, value]))
  const minute = Number(parts.get('hour')) * 60 + Number(parts.get('minute'))
  return parts.get('weekday') === 'Tue' && minute >= FROM_MINUTE && minute < UNTIL_MINUTE
}
