import { readFileSync } from 'node:fs'
import { type Incoming, type Reply, redirect, type Sandbox, text, tradeLink } from '../exchange.ts'
import { CATALOGUE, GAMES, iconPath } from '../items.ts'
import { answerOffer } from '../routes/control.ts'
import { type Account, type Asset, findAccount, type Offer, STATE } from '../world.ts'
import { escapeHtml } from './html.ts'

const FILES: Record<string, { body: string; type: string }> = {
  '/sandbox.css': { body: readPart('sandbox.css'), type: 'text/css' },
  '/sandbox.js': { body: readPart('sandbox.js'), type: 'text/javascript' },
}
const CSP =
  "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; form-action 'self'; " +
  "base-uri 'none'; frame-ancestors 'none'"

const STATE_TEXTS: Record<number, string> = {
  [STATE.accepted]: 'You accepted this offer.',
  [STATE.expired]: 'This offer has expired.',
  [STATE.canceled]: 'The bot took this offer back.',
  [STATE.declined]: 'You declined this offer.',
  [STATE.invalidItems]: 'Some of the items are not there any more.',
}

/** The pages that people see at the sandbox's own address. */
export function pages(request: Incoming, sandbox: Sandbox): Reply | undefined {
  const file = FILES[request.path]
  if (file && request.method === 'GET') return text(file.body, file.type)
  const offer = /^\/tradeoffer\/(\d+)\/?$/.exec(request.path)
  if (offer?.[1] && request.method === 'POST') return answerForm(request, sandbox, offer[1])
  if (request.method !== 'GET') return undefined
  if (request.path === '/') return home(sandbox)
  if (offer?.[1]) return offerPage(sandbox, offer[1])
  const profile = /^\/profiles\/(\d+)\/?$/.exec(request.path)
  return profile?.[1] ? profilePage(sandbox, profile[1]) : undefined
}

function readPart(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}

function page(title: string, body: string, status = 200): Reply {
  const reply = text(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/sandbox.css">
<script src="/sandbox.js" defer></script></head><body>
<div class="banner">Steam sandbox — not the real Steam</div><main>${body}</main>
<footer>Pictures: <a href="https://game-icons.net">game-icons.net</a> by Lorc, Delapouite and others,
<a href="https://creativecommons.org/licenses/by/3.0/">CC BY 3.0</a>, coloured here.</footer></body></html>`,
    'text/html',
    status,
  )
  const headers = {
    'content-security-policy': CSP,
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  }
  return { ...reply, headers: { ...reply.headers, ...headers } }
}

function home({ world }: Sandbox): Reply {
  const shoppers = world().accounts.filter(({ kind }) => kind === 'shopper')
  const cards = shoppers.map((account) => {
    const link = escapeHtml(tradeLink(account))
    return `<section class="card">${person(account)}<p>${counts(account)}</p><div class="link">
<input readonly value="${link}" aria-label="Trade link of ${escapeHtml(account.name)}">
<button type="button" data-copy="${link}">Copy</button></div></section>`
  })
  return page(
    'Steam sandbox',
    `<h1>Shoppers</h1><p>Copy a trade link and paste it into the deposit page: you then pay as that shopper.</p>${cards.join('')}`,
  )
}

function person({ name, steamId, level, avatarHash }: Account): string {
  return `<div class="person"><img src="/${avatarHash}_full.jpg" alt=""><div>
<h2><a href="/profiles/${steamId}/">${escapeHtml(name)}</a></h2><p>Level ${level}</p></div></div>`
}

function counts({ assets }: Account): string {
  return GAMES.map(({ appId, name }) => {
    const count = assets.filter((asset) => asset.appId === appId).length
    return `${name}: ${count}`
  }).join(' · ')
}

function itemList(assets: Asset[]): string {
  const rows = assets.flatMap(({ classId }) => {
    const entry = CATALOGUE.get(classId)
    if (!entry) return []
    return [
      `<li><img src="/economy/image/${iconPath(entry)}/100fx100f" alt=""><br>${escapeHtml(entry.name)}</li>`,
    ]
  })
  return `<ul class="items">${rows.join('')}</ul>`
}

function profilePage({ world }: Sandbox, steamId: string): Reply {
  const account = findAccount(world(), steamId)
  if (!account) return missing('There is no such profile.')
  return page(
    account.name,
    `<h1>Profile</h1>${person(account)}<p>${counts(account)}</p>${itemList(account.assets)}`,
  )
}

function offerPage({ world }: Sandbox, offerId: string): Reply {
  const offer = world().offers.find(({ id }) => id === offerId)
  const bot = offer && findAccount(world(), offer.sender)
  const shopper = offer && findAccount(world(), offer.partner)
  if (!offer || !bot || !shopper) return missing('There is no such trade offer.')
  return page(
    `Trade offer from ${bot.name}`,
    `<h1>Trade offer</h1><section class="card">${person(bot)}
<p>to ${escapeHtml(shopper.name)}, with the message:</p><p class="message">${escapeHtml(offer.message)}</p></section>
<h2>Items you give</h2>${itemList(offer.items)}${answers(offer)}`,
  )
}

function answers(offer: Offer): string {
  if (offer.state !== STATE.active) {
    const said = STATE_TEXTS[offer.state] ?? 'This offer has ended.'
    return `<p role="status" class="card">${said} You can go back to the store's page.</p>`
  }
  return `<form method="post" action="/tradeoffer/${offer.id}/" class="answers">
<button class="accept" name="answer" value="accept">Accept</button>
<button name="answer" value="decline">Decline</button></form>`
}

function answerForm(request: Incoming, sandbox: Sandbox, offerId: string): Reply | undefined {
  // Browsers send Origin with every form: without one this is no press of a button here.
  if (!request.origin) return page('Refused', '<h1>Refused</h1><p>Use the buttons of the page.</p>', 403)
  const how = request.form.get('answer')
  if (how !== 'accept' && how !== 'decline') return undefined
  // A refusal needs no page of its own: the offer's page tells its state.
  answerOffer(sandbox, offerId, how)
  return redirect(`/tradeoffer/${offerId}/`, 303)
}

function missing(said: string): Reply {
  return page('Not found', `<h1>Not found</h1><p>${said}</p>`, 404)
}
