import { type BadDay, changedJson, type Effect } from './day.ts'

const LIST = /^GET steamcommunity\.com\/mobileconf\/getlist$/
const ANSWER = /^(GET|POST) steamcommunity\.com\/mobileconf\/(multi)?ajaxop$/

const onList = (line: string, effect: Effect): BadDay => ({ line, at: LIST, effect })
const onAnswer = (line: string, effect: Effect): BadDay => ({ line, at: ANSWER, effect })

const TOO_MANY = {
  success: false,
  message: 'You have made too many requests recently. Please wait and try your request again later.',
}
const FAILED = { success: false, message: 'There was a problem confirming this.' }

/** Bad days of the confirmations of the mobile app. */
export const CONFIRMATIONS: Record<string, BadDay> = {
  'confirm-list-429': onList('The list of confirmations is 429.', { status: 429, body: null }),
  'confirm-too-many-requests': onList('The list of confirmations is "too many requests".', {
    status: 200,
    body: TOO_MANY,
  }),
  'confirm-list-empty': onList('The list of confirmations is empty, although something waits.', {
    status: 200,
    body: { success: true, conf: [] },
  }),
  'confirm-list-unreadable': onList('The list of confirmations has rows without id and creator.', {
    status: 200,
    body: { success: true, conf: [{ type: 2 }, null] },
  }),
  'confirm-failed': onAnswer('A yes is refused, and nothing was confirmed.', { status: 200, body: FAILED }),
  'confirm-429': onAnswer('A yes is 429, and nothing was confirmed.', { status: 429, body: null }),
  'confirm-failed-done': onAnswer(
    'A yes is refused, although it was confirmed.',
    changedJson(() => FAILED),
  ),
  'confirm-drop-after': onAnswer('The connection breaks, although it was confirmed.', { drop: 'after' }),
  'confirm-hang-after': onAnswer('No answer, although it was confirmed.', { hang: 'after' }),
}
