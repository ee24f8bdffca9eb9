import { type BadDay, type Effect, ERROR_PAGE, SIGN_IN } from './day.ts'

const FINALIZE = /^POST login\.steampowered\.com\/jwt\/finalizelogin$/
const SET_TOKEN = /^POST help\.steampowered\.com\/login\/settoken$/
const PASSWORD = /^POST api\.steampowered\.com\/IAuthenticationService\/BeginAuthSessionViaCredentials\//
const CODE = /^POST api\.steampowered\.com\/IAuthenticationService\/UpdateAuthSessionWithSteamGuardCode\//
const TRADE_PAGE = /^GET steamcommunity\.com\/tradeoffer\/new\/$/
const ALL_TRADE_PAGES = /^(GET|POST) steamcommunity\.com\/tradeoffer\//

const on = (at: RegExp, line: string, effect: Effect): BadDay => ({ line, at, effect })
const result = (eresult: number): Effect => ({
  status: 200,
  body: '',
  headers: { 'x-eresult': String(eresult) },
})
const tokenError = (error: number): Effect => ({ status: 200, body: { error } })
const problem = (text: string): Effect => ({
  status: 200,
  body: `<html><body><div id="error_msg">${text}</div></body></html>`,
})

/** Faults of a login, of a session, and of the page of a new offer. */
export const LOGINS: Record<string, BadDay> = {
  'login-15': on(FINALIZE, 'Steam refuses the refresh token with 15.', tokenError(15)),
  'login-15-once': {
    ...on(FINALIZE, 'Steam refuses a valid refresh token with 15, once.', tokenError(15)),
    times: 1,
  },
  'login-15-for-an-hour': {
    ...on(FINALIZE, 'Steam refuses a valid refresh token with 15, for an hour.', tokenError(15)),
    forS: 3600,
  },
  'login-27': on(FINALIZE, 'Steam refuses the refresh token as expired (27).', tokenError(27)),
  'login-84': on(
    FINALIZE,
    'Steam refuses a login: too many logins with refresh tokens (84).',
    tokenError(84),
  ),
  'login-429': on(FINALIZE, 'A login gets 429 and `null`.', { status: 429, body: null }),
  'login-503': on(FINALIZE, 'A login gets 503 and an HTML page.', {
    status: 503,
    body: ERROR_PAGE,
  }),
  'login-hang': on(FINALIZE, 'A login gets no answer.', { hang: 'before' }),
  'login-one-host-fails': on(SET_TOKEN, 'One host of the login (help.steampowered.com) answers 500.', {
    status: 500,
    body: '',
  }),
  'login-wrong-password': on(PASSWORD, 'Steam refuses every password as wrong (5).', result(5)),
  'login-rate-limited': on(
    PASSWORD,
    'Steam refuses a login: too many logins with passwords (84).',
    result(84),
  ),
  'login-wrong-code': on(CODE, 'Steam refuses every authenticator code as wrong (88).', result(88)),
  'session-lost': on(ALL_TRADE_PAGES, 'The trade pages redirect to the login page.', SIGN_IN),
  'page-invalid-link': on(
    TRADE_PAGE,
    'The trade page says that the link is no longer valid.',
    problem('This Trade URL is no longer valid for sending a trade offer to somebody.'),
  ),
  'page-private': on(
    TRADE_PAGE,
    'The trade page says that the inventory is private.',
    problem('somebody\'s inventory privacy is set to "Private", so they cannot receive trade offers.'),
  ),
  'page-limited-account': on(
    TRADE_PAGE,
    'The trade page says that the partner has a limited account.',
    problem(
      'This person has a limited account. They cannot trade until they have bought something on Steam.',
    ),
  ),
  'page-trade-ban': on(
    TRADE_PAGE,
    'The trade page says that the partner has a trade ban.',
    problem('You cannot trade with somebody because they have a trade ban.'),
  ),
  'page-escrow-15': on(TRADE_PAGE, 'The trade page announces a hold of 15 days.', {
    change: (reply) => ({
      ...reply,
      body: String(reply.body).replace(/(g_days(?:Their|Both)Escrow = )\d+/g, '$115'),
    }),
  }),
  'page-without-days': on(
    TRADE_PAGE,
    'The trade page does not mention holds, so it is unknown whether Steam will hold the trade.',
    {
      change: (reply) => ({ ...reply, body: String(reply.body).replace(/^.*g_days\w+Escrow.*\n/gm, '') }),
    },
  ),
}
