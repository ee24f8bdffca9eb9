/** A person's settings, at Steam's addresses for them. */
import { randomBytes } from 'node:crypto'
import { type Incoming, type Reply, redirect } from '../http.ts'
import { lineOfShopper } from '../routes/lines.ts'
import { type Sandbox, tradeLink } from '../sandbox.ts'
import { validTokenOf } from '../world/offers.ts'
import { traitsOf } from '../world/people.ts'
import { type Account, findAccount, type World, withAccount } from '../world/world.ts'
import { escapeHtml } from './html.ts'
import { htmlOfLine, linkRow, notFound, page, person } from './layout.ts'

/** Asks who the visitor is. Steam knows that from the login, but nobody logs in to the sandbox's pages. */
export function whoAreYou({ world }: Sandbox, at: string): Reply {
  const shoppers = world().accounts.filter(({ kind, isGuest }) => kind === 'shopper' && !isGuest)
  const rows = shoppers.map(
    (account) =>
      `<li><a href="/profiles/${account.steamId}/${at}">${escapeHtml(account.name)}</a><p>${htmlOfLine(lineOfShopper(account))}${account.settings === undefined ? '' : ' Settings were changed here.'}</p></li>`,
  )
  return page(
    'Who are you?',
    `<h1>Who are you?</h1><p>The real Steam knows you by your login. Here, choose the shopper whose trade link you use.</p>
<ul class="people">${rows.join('')}</ul>`,
  )
}

export function tradeSettingsPage(sandbox: Sandbox, steamId: string): Reply {
  return settingsPage(sandbox, steamId, {
    title: 'Who can send me trade offers?',
    body: (world, account) => `<h2>Friends</h2><p>Anybody on your friends list can send you trade offers.</p>
<h2>Third-party sites</h2><p>A site with this link can send you trade offers, too. It gives no access to your account.</p>
${linkRow(tradeLink({ ...account, token: validTokenOf(world, account) }), account.name)}
<form method="post"><button name="set" value="link">Create new URL</button></form><p>The old link then stops working.</p>`,
  })
}

export function privacyPage(sandbox: Sandbox, steamId: string): Reply {
  return settingsPage(sandbox, steamId, {
    title: 'Privacy settings',
    body(world, account) {
      const isHidden = traitsOf(world, account).inventory === 'hidden'
      const [current, opposite, label] = isHidden
        ? ['Private', 'public', 'Make it public']
        : ['Public', 'private', 'Make it private']
      return `<h2>Inventory: ${current}</h2>
<form method="post"><button name="set" value="${opposite}">${label}</button></form>`
    },
  })
}

export function authenticatorPage(sandbox: Sandbox, steamId: string): Reply {
  return settingsPage(sandbox, steamId, {
    title: 'Steam Guard Mobile Authenticator',
    body: (world, account) =>
      (traitsOf(world, account).holdDays ?? 0) === 0
        ? '<p>The authenticator is on, and has been for more than 7 days. Steam holds none of your trades.</p>'
        : `<p>The authenticator is off, so Steam holds each of your trades.</p>
<form method="post"><button name="set" value="authenticator">Turn it on</button></form>
<p>On Steam, new trades are still held for 7 days after this. Here they are not.</p>`,
  })
}

type SettingsPage = { title: string; body: (world: World, account: Account) => string }

function settingsPage({ world }: Sandbox, steamId: string, { title, body }: SettingsPage): Reply {
  const account = findAccount(world(), steamId)
  if (account?.kind !== 'shopper') return notFound('There is no such profile.')
  return page(title, `<h1>${title}</h1>${person(account)}${body(world(), account)}`)
}

const CHANGES: Record<string, (account: Account) => Account> = {
  public: (account) => withSettings(account, { inventory: 'public' }),
  private: (account) => withSettings(account, { inventory: 'private' }),
  authenticator: (account) => withSettings(account, { hasAuthenticator: true }),
  link: (account) => ({
    ...withSettings(account, { hasNewLink: true }),
    token: randomBytes(6).toString('base64url'),
  }),
}

const withSettings = (account: Account, change: Account['settings']): Account => ({
  ...account,
  settings: { ...account.settings, ...change },
})

export function settingsForm({ form, path }: Incoming, sandbox: Sandbox, steamId: string): Reply | undefined {
  const setting = form.get('set') ?? ''
  const change = Object.hasOwn(CHANGES, setting) ? CHANGES[setting] : undefined
  if (change === undefined) return undefined
  sandbox.change((world) => ({ world: withAccount(world, steamId, change), answer: undefined }))
  return redirect(path, 303)
}
