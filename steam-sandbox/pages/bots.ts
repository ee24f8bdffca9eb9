import { codeOf, credentialsOf } from '../credentials.ts'
import type { Sandbox } from '../exchange.ts'
import { type Incoming, type Reply, redirect } from '../http.ts'
import { approveLogin } from '../routes/enrolment.ts'
import { refreshTokenOf } from '../tokens.ts'
import { type Account, findAccount } from '../world/world.ts'
import { escapeHtml } from './html.ts'
import { copyRow, page, person } from './layout.ts'

/** What an operator needs to enrol the bots, and their phone. */
export function botsPage(sandbox: Sandbox): Reply {
  const bots = sandbox.world().accounts.filter(({ kind }) => kind === 'bot')
  const cards = bots.map((bot) => botCard(bot, sandbox))
  const choices = bots.map(({ steamId, name }) => `<option value="${steamId}">${escapeHtml(name)}</option>`)
  return page(
    'Bots',
    `<h1>Bots</h1><p>With these a gateway logs in: by password and code, or by refresh token. None of it opens anything
but this sandbox.</p>${cards.join('')}<h2>Approve a login by picture</h2><form method="post" class="card">
<label>The address behind the picture <input class="field" name="challenge" required placeholder="https://s.team/q/1/…"></label>
<label>as <select class="field" name="bot">${choices.join('')}</select></label> <button class="accept">Approve</button></form>`,
  )
}

function botCard(bot: Account, { clockS, nowS }: Sandbox): string {
  const { accountName, password, sharedSecret } = credentialsOf(bot)
  const rows = [
    ['Account name', accountName],
    ['Password', password],
    ['Code of the authenticator, just now', codeOf(sharedSecret, clockS())],
    ['Secret of the authenticator', sharedSecret],
    ['Refresh token', refreshTokenOf(bot, nowS())],
  ].map(
    ([label = '', value = '']) => `<p class="label">${label}</p>${copyRow(value, `${label} of ${bot.name}`)}`,
  )
  return `<section class="card">${person(bot)}${rows.join('')}</section>`
}

export function botsForm({ form }: Incoming, sandbox: Sandbox): Reply {
  const clientId = /(\d+)\/?$/.exec(form.get('challenge')?.trim() ?? '')?.[1] ?? ''
  const bot = findAccount(sandbox.world(), form.get('bot') ?? '')
  if (bot && approveLogin(sandbox, clientId, bot)) return redirect('/bots/', 303)
  return page('No such login', '<h1>No such login</h1><p>It may be over. Begin it anew.</p>', 404)
}
