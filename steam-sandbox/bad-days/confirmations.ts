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

/** Faults of the mobile app's confirmations. */
export const CONFIRMATIONS: Record<string, BadDay> = {
  'confirm-list-429': onList('A request for the list of confirmations gets 429.', {
    status: 429,
    body: null,
  }),
  'confirm-too-many-requests': onList(
    'A request for the list of confirmations gets the error "too many requests".',
    {
      status: 200,
      body: TOO_MANY,
    },
  ),
  'confirm-list-empty': onList('The list of confirmations is empty, although offers wait for confirmation.', {
    status: 200,
    body: { success: true, conf: [] },
  }),
  'confirm-list-unreadable': onList('The list of confirmations has rows without an id or creator.', {
    status: 200,
    body: { success: true, conf: [{ type: 2 }, null] },
  }),
  'confirm-failed': onAnswer('Steam refuses a confirmation, and nothing is confirmed.', {
    status: 200,
    body: FAILED,
  }),
  'confirm-429': onAnswer('A confirmation gets 429, and nothing is confirmed.', { status: 429, body: null }),
  'confirm-failed-done': onAnswer(
    'Steam refuses a confirmation, although it took effect.',
    changedJson(() => FAILED),
  ),
  'confirm-drop-after': onAnswer('The connection breaks, although the confirmation took effect.', {
    drop: 'after',
  }),
  'confirm-hang-after': onAnswer('A confirmation gets no answer, although it took effect.', {
    hang: 'after',
  }),
}
