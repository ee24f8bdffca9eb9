import type { OnHold, TopUp } from './books.ts'
import type { Player } from './sandbox-players.ts'
import { FIRST_SHOPPER, SHOPPERS } from './shoppers.ts'

export const CURRENCIES = ['USD', 'EUR', 'BRL'] as const
export const LANGUAGES = ['en', 'ru'] as const

const LANGUAGE_NAMES: Record<string, string> = { en: 'English', ru: 'Русский' }

const STATUS: Record<string, { text: string; tone: 'wait' | 'good' | 'bad' }> = {
  created: { text: 'Waiting for your items', tone: 'wait' },
  pending: { text: 'Trade offer sent', tone: 'wait' },
  succeeded: { text: 'Credited', tone: 'good' },
  paymentTimeout: { text: 'Closed: nothing was sent', tone: 'bad' },
  tradeTimeout: { text: 'Offer not accepted in time', tone: 'bad' },
  tradeDeclined: { text: 'Declined on Steam', tone: 'bad' },
  tradeCountered: { text: 'Counter-offer refused', tone: 'bad' },
  tradeHasInvalidItems: { text: 'Items no longer available', tone: 'bad' },
}

function outcomeOf({ status, reason, amount, reversed }: TopUp): { text: string; tone: string } {
  if (amount !== null && reversed >= amount) return { text: 'Taken back by its sender', tone: 'bad' }
  if (reason === 'cancelled_by_store') return { text: 'Cancelled', tone: 'bad' }
  return STATUS[status] ?? { text: status, tone: 'wait' }
}

/** Text that is safe between tags and in quoted attributes. */
function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

function money(amountMinor: number, currency: string): string {
  return new Intl.NumberFormat('en-US', { style: 'currency', currency }).format(amountMinor / 100)
}

function page(title: string, main: string, shopper: string = FIRST_SHOPPER): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="/static/ember.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/ember.css">
<script src="/static/ember.js" type="module"></script>
</head>
<body>
<header class="top"><a class="brand" href="/"><img src="/static/ember.svg" alt="" width="32" height="32">Ember Forge</a>
${signedIn(shopper)}</header>
<main>${main}</main>
<footer>A demo store. It talks to Tradetill as any store would: one call to open a top-up, one signed webhook to
credit it. No real money, no real items.</footer>
</body>
</html>`
}

function signedIn(shopper: string): string {
  const options = SHOPPERS.map((name) => `<option${name === shopper ? ' selected' : ''}>${name}</option>`)
  return `<form method="post" action="/shopper" class="who"><label>Signed in as <select name="shopper">${options.join('')}</select></label>
<button type="submit">Switch</button></form>`
}

type Home = {
  shopper: string
  balances: Record<string, number>
  onHold: Record<string, OnHold>
  account: Record<string, number>
  topUps: TopUp[]
  players: Player[] | undefined
}

export function homePage({ shopper, balances, onHold, account, topUps, players }: Home): string {
  return page(
    'Ember Forge',
    `<div class="columns">
<section class="card hero" aria-labelledby="balance-title">
<h1 id="balance-title">Available</h1>
${balancePart({ balances, onHold })}
${topUpForm()}
</section>
<section class="card" aria-labelledby="try-title">
<h2 id="try-title">Try it: trade links of the sandbox’s shoppers</h2>
<p class="quiet">The top-up page asks for a Steam trade link. Copy one of these and play that shopper.</p>
${playerList(players)}
</section>
</div>
<section class="card" aria-labelledby="recent-title">
<h2 id="recent-title">Recent top-ups</h2>
${topUpPart(topUps)}
${accountPart(account)}
<form method="post" action="/reconcile"><button type="submit">Check with the till</button></form>
</section>`,
    shopper,
  )
}

/** The parts that change without a reload; the page's script takes them from here. */
export function liveParts({ topUps, account, ...money }: Omit<Home, 'players' | 'shopper'>): string {
  return balancePart(money) + topUpPart(topUps) + accountPart(account)
}

type Money = Pick<Home, 'balances' | 'onHold'>

const balancePart = (money: Money): string =>
  `<div id="balances" data-live aria-live="polite">${balanceList(money)}</div>`

const topUpPart = (topUps: TopUp[]): string => `<div id="top-ups" data-live>${topUpList(topUps)}</div>`

/** The store's own money with the till, which no shopper sees elsewhere: a reversal may cost it less than them. */
function accountPart(account: Record<string, number>): string {
  const sums = Object.entries({ USD: 0, ...account }).map(([currency, amount]) => money(amount, currency))
  return `<p id="account" class="quiet" data-live>The store’s account with the till, of all shoppers: ${sums.join(', ')}</p>`
}

/** Money that can be spent, and apart from it money that Steam may still take back. */
function balanceList({ balances, onHold }: Money): string {
  const known = Object.entries({ USD: 0, ...balances })
  const rows = known.map(([currency, amount]) => {
    const held = onHold[currency]
    const available = `<span class="amount" data-currency="${escapeHtml(currency)}">${money(amount - (held?.amount ?? 0), currency)}</span>`
    return `<li>${available}${held === undefined ? '' : `<span class="on-hold">${onHoldText(held, currency)}</span>`}</li>`
  })
  return `<ul class="balances">${rows.join('')}</ul>`
}

function onHoldText({ amount, until }: OnHold, currency: string): string {
  return `on hold ${money(amount, currency)}${until === null ? '' : ` until ${dayOf(until)}`}`
}

function dayOf(iso: string): string {
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
  return `<time datetime="${escapeHtml(iso)}">${day.format(new Date(iso))}</time>`
}

function topUpForm(): string {
  const currencies = CURRENCIES.map((currency) => `<option>${currency}</option>`)
  const languages = LANGUAGES.map((code) => `<option value="${code}">${LANGUAGE_NAMES[code]}</option>`)
  return `<form method="post" action="/top-ups" class="top-up">
<label>Currency <select name="currency">${currencies.join('')}</select></label>
<label>Language <select name="language"><option value="">My browser’s</option>${languages.join('')}</select></label>
<label class="hold"><input type="checkbox" name="hold"> Hold it until Steam’s protection ends</label>
<button type="submit" class="primary">Top up with game items</button>
</form>`
}

function playerList(players: Player[] | undefined): string {
  if (players === undefined) {
    return '<p class="notice">The Steam sandbox does not answer, so there is nobody to play. Start it and reload.</p>'
  }
  const rows = players.map(
    ({ name, tradeUrl }) => `<li><span class="player">${escapeHtml(name)}</span>
<input readonly value="${escapeHtml(tradeUrl)}" aria-label="Trade link of ${escapeHtml(name)}">
<button type="button" data-copy="${escapeHtml(tradeUrl)}">Copy<span class="hidden"> the trade link of ${escapeHtml(name)}</span></button></li>`,
  )
  return `<ul class="players">${rows.join('')}</ul>`
}

function topUpList(topUps: TopUp[]): string {
  if (topUps.length === 0) return '<p class="quiet">None yet. Your first one appears here.</p>'
  const rows = topUps.map((topUp) => {
    const { text, tone } = outcomeOf(topUp)
    const time = topUp.createdAt.slice(0, 16).replace('T', ' ')
    const open = topUp.status === 'created' || topUp.status === 'pending'
    const link = open && topUp.url !== null ? ` <a href="${escapeHtml(topUp.url)}">Continue</a>` : ''
    const sums = sumsOf(topUp)
    return `<tr><td data-label="Opened"><time datetime="${escapeHtml(topUp.createdAt)}">${escapeHtml(time)} UTC</time></td>
<td data-label="Status"><span class="status ${tone}">${escapeHtml(text)}</span>${link}</td><td class="sum" data-label="Credited">${sums}</td></tr>`
  })
  return `<table><thead><tr><th scope="col">Opened</th><th scope="col">Status</th><th scope="col" class="sum">Credited</th></tr></thead>
<tbody>${rows.join('')}</tbody></table>`
}

/** Amounts credited, those that Steam may still take back, and those that it took back. */
function sumsOf({ amount, held, heldUntil, reversed, currency }: TopUp): string {
  if (amount === null) return ''
  return [
    `+${money(amount, currency)}`,
    ...(held > 0
      ? [`<small class="held">${onHoldText({ amount: held, until: heldUntil }, currency)}</small>`]
      : []),
    ...(reversed > 0 ? [`<small class="reversed">−${money(reversed, currency)} taken back</small>`] : []),
  ].join('<br>')
}

export function messagePage(title: string, text: string): string {
  return page(
    `${title} · Ember Forge`,
    `<section class="card message"><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>
<p><a class="button" href="/">Back to your balance</a></p></section>`,
  )
}
