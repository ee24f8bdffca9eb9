import { field, type Incoming, parseJson } from '../http.ts'
import { GAMES } from '../items.ts'
import { type BadDay, type Effect, ERROR_PAGE, rowsOf, SIGN_IN } from './day.ts'

const ACCEPT = /^POST steamcommunity\.com\/tradeoffer\/\d+\/accept$/
const SEND = /^POST steamcommunity\.com\/tradeoffer\/new\/send$/

const onSend = (line: string, effect: Effect): BadDay => ({ line, at: SEND, effect })
const refusalText = (strError: string): Effect => ({ status: 500, body: { strError } })
const refusal = (eresult: number): Effect =>
  refusalText(`There was an error sending your trade offer.  Please try again later. (${eresult})`)

const full = (game: string): Effect =>
  refusalText(`This trade would exceed the maximum number of items allowed in your ${game} inventory.`)

/** The app id of the items that an offer asks for. */
function appIdAskedFor({ form }: Incoming): number {
  const [first] = rowsOf(field(field(parseJson(form.get('json_tradeoffer') ?? ''), 'them'), 'assets'))
  return Number(field(first, 'appid'))
}

/** Faults while an offer is sent or accepted. No offer is created unless the description says so. */
export const SENDS: Record<string, BadDay> = {
  'send-2': onSend('Steam refuses the offer with (2), without a reason.', refusal(2)),
  'send-11': onSend('Steam refuses the offer with (11): invalid state.', refusal(11)),
  'send-15': onSend(
    'Steam refuses the offer with (15): the token is wrong, and the two are not friends.',
    refusal(15),
  ),
  'send-16-not-sent': onSend('Steam reports a time-out (16), and has created no offer.', refusal(16)),
  'send-16-sent': onSend('Steam reports a time-out (16), although it has created the offer.', {
    change: (reply) => (reply.status === 200 ? replyWith(refusal(16)) : reply),
  }),
  'send-20': onSend('Steam refuses the offer with (20): a service is not available.', refusal(20)),
  'send-25': onSend('Steam refuses the offer with (25): too many offers.', refusal(25)),
  'send-26': onSend('Steam refuses the offer with (26): an item is gone.', refusal(26)),
  'send-28': onSend('Steam refuses the offer with (28): already done.', refusal(28)),
  'send-10': onSend('Steam refuses the offer with (10): busy.', refusal(10)),
  'send-24': onSend('Steam refuses the offer with (24): the bot lacks a privilege.', refusal(24)),
  'send-29': onSend('Steam refuses the offer with (29): duplicate request.', refusal(29)),
  'send-34': onSend(
    'Steam refuses the offer with (34), as it does when the other side has just changed its name.',
    refusalText('You cannot trade with somebody (34)'),
  ),
  'send-50': onSend(
    'Steam refuses the offer with (50), as if five offers to the other side were open.',
    refusal(50),
  ),
  'send-55': onSend('Steam refuses the offer with (55): a back end failed.', refusal(55)),
  'send-84': onSend('Steam refuses the offer with (84): too many requests.', refusal(84)),
  'send-steam-guard': onSend(
    'Steam refuses the offer: the bot has had Steam Guard for less than 15 days.',
    refusalText(
      'You must have had Steam Guard enabled for at least 15 days before you can participate in a trade.',
    ),
  ),
  'send-trade-ban': onSend(
    'Steam refuses the offer: the other side has a trade ban.',
    refusalText('You cannot trade with somebody because they have a trade ban.'),
  ),
  'send-new-device': onSend(
    'Steam refuses the offer: the bot is on a new device, and cannot trade for 7 days.',
    refusalText(
      'You have logged in from a new device. In order to protect your items, you will be unable to trade for 7 days.',
    ),
  ),
  'send-cannot-trade': onSend(
    'Steam refuses the offer: the other side is not available to trade.',
    refusalText(
      'somebody is not available to trade. More information will be shown to somebody if they invite you to trade.',
    ),
  ),
  'send-limited-account': onSend(
    'Steam refuses the offer: the other side has a limited account.',
    refusalText(
      'This person has a limited account. They cannot trade until they have bought something on Steam.',
    ),
  ),
  'send-private-inventory': onSend(
    'Steam refuses the offer: the inventory of the other side is private.',
    refusalText('somebody\'s inventory privacy is set to "Private", so they cannot receive trade offers.'),
  ),
  'send-too-many-offers': onSend(
    'Steam refuses the offer: too many offers, in a text without an error number.',
    refusalText('You have sent too many trade offers. Please cancel some before sending more.'),
  ),
  'send-item-server-down': onSend(
    "Steam refuses the offer: the game's item server does not answer.",
    refusalText("We were unable to contact the game's item server. Please try again later."),
  ),
  'send-inventory-full': onSend(
    "Steam refuses every offer: the bot's inventory is full.",
    full('Counter-Strike 2'),
  ),
  ...Object.fromEntries(
    GAMES.map(({ appId, name, file }): [string, BadDay] => [
      `send-inventory-full-${file}`,
      {
        ...onSend(`Steam refuses offers for ${name} items: that inventory of the bot is full.`, full(name)),
        when: (request) => appIdAskedFor(request) === appId,
      },
    ]),
  ),
  'accept-inventory-full': {
    line: 'Steam lets nobody accept an offer: the inventory of the recipient is full.',
    at: ACCEPT,
    effect: full('Counter-Strike 2'),
  },
  'send-401': onSend('A send gets 401 and `null`, as if the session had ended.', { status: 401, body: null }),
  'send-302': onSend('A send is redirected (302) to the login page, as if the session had ended.', SIGN_IN),
  'send-429': onSend('A send gets 429 and `null`.', { status: 429, body: null }),
  'send-503-html': onSend('A send gets 503 and an HTML page.', { status: 503, body: ERROR_PAGE }),
  'send-200-null': onSend('A send gets 200 and `null`.', { status: 200, body: null }),
  'send-200-html': onSend('A send gets 200 and an HTML page.', { status: 200, body: ERROR_PAGE }),
  'send-200-empty': onSend('A send gets 200 and `{}`.', { status: 200, body: {} }),
  'send-hang-before': onSend('Steam does not answer, and creates no offer.', { hang: 'before' }),
  'send-hang-after': onSend('Steam creates the offer, but does not answer.', { hang: 'after' }),
  'send-drop-before': onSend('The connection breaks before Steam has created the offer.', { drop: 'before' }),
  'send-drop-after': onSend('The connection breaks after Steam has created the offer.', { drop: 'after' }),
}

function replyWith({ status = 200, body }: Effect) {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}
