import { field, type Incoming, parseJson } from '../http.ts'
import { GAMES } from '../items.ts'
import { type BadDay, type Effect, ERROR_PAGE, rowsOf, SIGN_IN } from './day.ts'

const SEND = /^POST steamcommunity\.com\/tradeoffer\/new\/send$/

const on = (line: string, effect: Effect): BadDay => ({ line, at: SEND, effect })
const said = (strError: string): Effect => ({ status: 500, body: { strError } })
const refused = (eresult: number): Effect =>
  said(`There was an error sending your trade offer.  Please try again later. (${eresult})`)

const full = (game: string): Effect =>
  said(`This trade would exceed the maximum number of items allowed in your ${game} inventory.`)

/** The app id of the items that an offer asks for. */
function askedGame({ form }: Incoming): number {
  const [first] = rowsOf(field(field(parseJson(form.get('json_tradeoffer') ?? ''), 'them'), 'assets'))
  return Number(field(first, 'appid'))
}

/** Faults while an offer is sent. Nothing is sent unless the description says so. */
export const SENDS: Record<string, BadDay> = {
  'send-2': on('Refused with (2), a failure without a reason.', refused(2)),
  'send-11': on('Refused with (11), a state that does not fit.', refused(11)),
  'send-15': on('Refused with (15), a wrong token or not friends.', refused(15)),
  'send-16-not-sent': on('A time-out (16), and no offer was sent.', refused(16)),
  'send-16-sent': on('A time-out (16), although the offer was sent.', {
    change: (reply) => (reply.status === 200 ? replyWith(refused(16)) : reply),
  }),
  'send-20': on('Refused with (20), a service that is not available.', refused(20)),
  'send-25': on('Refused with (25), too many offers.', refused(25)),
  'send-26': on('Refused with (26), an item that is gone.', refused(26)),
  'send-28': on('Refused with (28), already done.', refused(28)),
  'send-10': on('Refused with (10), busy.', refused(10)),
  'send-24': on('Refused with (24), a privilege that the bot lacks.', refused(24)),
  'send-29': on('Refused with (29), asked twice.', refused(29)),
  'send-34': on('Refused with (34), as after a change of name.', said('You cannot trade with somebody (34)')),
  'send-50': on('Refused with (50), as if five offers were open.', refused(50)),
  'send-55': on('Refused with (55), a back end that failed.', refused(55)),
  'send-84': on('Refused with (84), too many requests.', refused(84)),
  'send-steam-guard': on(
    'The bot has not had Steam Guard for 15 days.',
    said('You must have had Steam Guard enabled for at least 15 days before you can participate in a trade.'),
  ),
  'send-trade-ban': on(
    'The other side has a trade ban.',
    said('You cannot trade with somebody because they have a trade ban.'),
  ),
  'send-new-device': on(
    'The bot has logged in from a new device: 7 days without trades.',
    said(
      'You have logged in from a new device. In order to protect your items, you will be unable to trade for 7 days.',
    ),
  ),
  'send-cannot-trade': on(
    'The other side is not available to trade.',
    said(
      'somebody is not available to trade. More information will be shown to somebody if they invite you to trade.',
    ),
  ),
  'send-limited-account': on(
    'The other side has a limited account.',
    said('This person has a limited account. They cannot trade until they have bought something on Steam.'),
  ),
  'send-private-inventory': on(
    'The inventory of the other side has become private.',
    said('somebody\'s inventory privacy is set to "Private", so they cannot receive trade offers.'),
  ),
  'send-too-many-offers': on(
    'Too many offers, in a text without a number.',
    said('You have sent too many trade offers. Please cancel some before sending more.'),
  ),
  'send-item-server-down': on(
    "The game's item server does not answer.",
    said("We were unable to contact the game's item server. Please try again later."),
  ),
  'send-inventory-full': on("The bot's inventory is full, whatever the game.", full('Counter-Strike 2')),
  ...Object.fromEntries(
    GAMES.map(({ appId, name, file }): [string, BadDay] => [
      `send-inventory-full-${file}`,
      {
        ...on(`The bot's inventory of ${name} is full; offers for other games are sent.`, full(name)),
        when: (request) => askedGame(request) === appId,
      },
    ]),
  ),
  'send-401': on('Status 401 and `null`: the session has ended.', { status: 401, body: null }),
  'send-302': on('Status 302 to the login page: the session has ended.', SIGN_IN),
  'send-429': on('429 and `null`.', { status: 429, body: null }),
  'send-503-html': on('503 and a page of HTML.', { status: 503, body: ERROR_PAGE }),
  'send-200-null': on('200 and `null`.', { status: 200, body: null }),
  'send-200-html': on('200 and a page of HTML.', { status: 200, body: ERROR_PAGE }),
  'send-200-empty': on('200 and `{}`.', { status: 200, body: {} }),
  'send-hang-before': on('No answer, and no offer was sent.', { hang: 'before' }),
  'send-hang-after': on('No answer, although the offer was sent.', { hang: 'after' }),
  'send-drop-before': on('The connection breaks, and no offer was sent.', { drop: 'before' }),
  'send-drop-after': on('The connection breaks, although the offer was sent.', { drop: 'after' }),
}

function replyWith({ status = 200, body }: Effect) {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}
