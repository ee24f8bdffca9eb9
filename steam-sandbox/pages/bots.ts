import { codeOf, credentialsOf } from '../credentials.ts'
import { type Incoming, type Reply, redirect } from '../http.ts'
import { GAMES } from '../items.ts'
import { gain, give, lose, switchOff, switchOn } from '../routes/changes.ts'
import { approveLogin } from '../routes/enrolment.ts'
import { lineOf } from '../routes/lines.ts'
import type { Sandbox } from '../sandbox.ts'
import { refreshTokenOf } from '../tokens.ts'
import { type Account, findAccount } from '../world/world.ts'
import { escapeHtml } from './html.ts'
import { copyRow, page, person } from './layout.ts'

/** The page with the data for enrolling bots. It also stands in for their phones, which approve logins. */
export function botsPage(sandbox: Sandbox): Reply {
  const bots = sandbox.world().accounts.filter(({ kind }) => kind === 'bot')
  const cards = bots.map((bot) => botCard(bot, sandbox))
  const choices = bots.map(({ steamId, name }) => `<option value="${steamId}">${escapeHtml(name)}</option>`)
  return page(
    'Bots',
    `<h1>Bots</h1><p>A gateway logs in with these: by password and code, or by refresh token. They open nothing but
this sandbox.</p>${cards.join('')}<h2>Approve a login by QR code</h2><form method="post" class="card">
<label>The address in the QR code <input class="field" name="challenge" required placeholder="https://s.team/q/1/…"></label>
<label>as <select class="field" name="bot">${choices.join('')}</select></label> <button class="accept">Approve</button></form>`,
  )
}

export const BOT_BAD_DAYS: readonly string[] = [
  'send-new-device',
  'send-steam-guard',
  'send-24',
  'send-15',
  'send-25',
  'send-50',
  'send-26',
  'send-too-many-offers',
  'send-inventory-full',
  ...GAMES.map(({ file }) => `send-inventory-full-${file}`),
  'send-429',
  'cancel-429',
  'rate-limited',
  'tight-quotas',
  'login-15-once',
  'login-15-for-an-hour',
  'login-15',
  'login-27',
  'login-84',
  'login-503',
  'confirm-list-429',
  'confirm-too-many-requests',
  'confirm-list-empty',
  'confirm-failed',
  'confirm-failed-done',
  'confirm-something-else',
  'hold-15-days',
  'busy-for-nine-days',
]

function badDaySwitches({ steamId, name }: Account, { faults, world }: Sandbox): string {
  const traits = world().switched.filter((other) => other.steamId === steamId)
  const activeNames = new Set([...faults.activeNamesFor(steamId), ...traits.map((other) => other.name)])
  const rows = BOT_BAD_DAYS.map((badDay) => {
    const [verb, label] = activeNames.has(badDay) ? ['off', 'Switch off'] : ['on', 'Switch on']
    return `<li><div><code>${badDay}</code><p>${escapeHtml(lineOf(badDay))}</p></div>
<button name="${verb}" value="${badDay}" aria-label="${label}: ${badDay} for ${escapeHtml(name)}">${label}</button></li>`
  })
  return `<details><summary>Bad days of this bot (${activeNames.size} on)</summary><form method="post">
<input type="hidden" name="of" value="${steamId}"><ul class="switches">${rows.join('')}</ul></form></details>`
}

/** A form that gives the bot's items away, as its owner or a thief could. */
function giveForm({ steamId, name, assets }: Account, { world }: Sandbox): string {
  const takers = world().accounts.filter(
    (other) => other.steamId !== steamId && !other.behaviour && !other.isGuest,
  )
  const choices = takers.map((other) => `<option value="${other.steamId}">${escapeHtml(other.name)}</option>`)
  return `<details><summary>Give its items away (it has ${assets.length})</summary><form method="post">
<p>Sends all tradable items immediately, as the owner or a thief could.</p><input type="hidden" name="from" value="${steamId}">
<label>to <select class="field" name="to">${choices.join('')}</select></label>
<button aria-label="Give the items of ${escapeHtml(name)} away">Give them away</button></form></details>`
}

function driftButtons({ steamId, name }: Account): string {
  const quoted = escapeHtml(name)
  return `<details><summary>Change its inventory without a trade</summary><form method="post">
<p>Steam’s history shows no such change. A gateway notices when it compares the inventory with its books.</p>
<button name="lose" value="${steamId}" aria-label="Let an item of ${quoted} vanish">Let an item vanish</button>
<button name="find" value="${steamId}" aria-label="Add an item to ${quoted}">Add an item</button></form></details>`
}

function botCard(bot: Account, sandbox: Sandbox): string {
  const { clockS, nowS } = sandbox
  const { accountName, password, sharedSecret, identitySecret } = credentialsOf(bot)
  const rows = [
    ['Account name', accountName],
    ['Password', password],
    ['Current code of the authenticator', codeOf(sharedSecret, clockS())],
    ['Secret of the authenticator', sharedSecret],
    ['Secret of confirmations', identitySecret],
    ['Refresh token', refreshTokenOf(bot, nowS())],
  ].map(
    ([label = '', value = '']) => `<p class="label">${label}</p>${copyRow(value, `${label} of ${bot.name}`)}`,
  )
  return `<section class="card">${person(bot)}${rows.join('')}${giveForm(bot, sandbox)}${driftButtons(bot)}${badDaySwitches(bot, sandbox)}</section>`
}

export function botsForm({ form }: Incoming, sandbox: Sandbox): Reply {
  const target = findAccount(sandbox.world(), form.get('of') ?? '')
  if (target !== undefined) return switchBadDay(form, sandbox, target)
  const [from, to] = [form.get('from'), form.get('to')]
  if (from !== null && to !== null) {
    const answer = give(sandbox, { from, to, assetIds: undefined })
    if (answer.status === 200) return redirect('/bots/', 303)
    return page(
      'Nothing was given',
      '<h1>Nothing was given</h1><p>The bot has no tradable items, or one of the accounts cannot send, receive or accept the offer now.</p>',
      409,
    )
  }
  const drifted = driftForm(form, sandbox)
  if (drifted !== undefined) return drifted
  const clientId = /(\d+)\/?$/.exec(form.get('challenge')?.trim() ?? '')?.[1] ?? ''
  const bot = findAccount(sandbox.world(), form.get('bot') ?? '')
  if (bot && approveLogin(sandbox, clientId, bot)) return redirect('/bots/', 303)
  return page('No such login', '<h1>No such login</h1><p>It may have ended. Start a new login.</p>', 404)
}

function driftForm(form: URLSearchParams, sandbox: Sandbox): Reply | undefined {
  const [loser, gainer] = [form.get('lose'), form.get('find')]
  if (loser === null && gainer === null) return undefined
  const answer = loser === null ? gain(sandbox, gainer ?? '') : lose(sandbox, loser, undefined)
  if (answer.status === 200) return redirect('/bots/', 303)
  return page('Nothing changed', '<h1>Nothing changed</h1><p>The bot has no items.</p>', 409)
}

function switchBadDay(form: URLSearchParams, sandbox: Sandbox, { steamId }: Account): Reply {
  const isOffered = (name: string | null): name is string => name !== null && BOT_BAD_DAYS.includes(name)
  const [on, off] = [form.get('on'), form.get('off')]
  if (isOffered(on)) switchOn(sandbox, on, { steamId })
  if (isOffered(off)) switchOff(sandbox, off, { steamId })
  return redirect('/bots/', 303)
}
