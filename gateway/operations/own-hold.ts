import { counted } from '../kit/counted.ts'

/** Returns a notice for the operator about a bot's own trade hold. `days`: null if it was not checked. */
export function holdNotice(days: number | null): string {
  if (days === null) return ' Its own trade hold was not checked: bot enrol and bot add take --check-with.'
  if (days === 0) return ''
  return ` It rests: Steam would hold its trades for ${counted(days, 'day')}. Its mobile authenticator must be on for 7 days.`
}
