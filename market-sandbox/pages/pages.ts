import { readFileSync } from 'node:fs'
import { FAULTS, isFault } from '../faults.ts'
import { gameName } from '../games.ts'
import { type Incoming, type Reply, redirect, text } from '../http.ts'
import { takeBack } from '../routes/control.ts'
import { isMarketName, lookAtAll, MARKET_NAMES, type Market, type Markets } from '../sandbox.ts'
import { isBanned, isOnline } from '../world/sellers.ts'
import { type Deal, isTemper, itemsOf, type Listing, TEMPERS } from '../world/world.ts'
import { escapeHtml } from './html.ts'
import { emptyNote, moment, money, page } from './layout.ts'

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#58c28a"/><path d="M7 13h18v12H7zM5 8h22v4H5z" fill="#06170e"/></svg>'

const FILES: Record<string, { body: string; type: string }> = {
  '/icon.svg': { body: ICON, type: 'image/svg+xml' },
  '/market.css': { body: readFileSync(new URL('market.css', import.meta.url), 'utf8'), type: 'text/css' },
}

type Handlers = {
  get: (markets: Markets) => Reply
  post?: (markets: Markets, form: URLSearchParams) => Promise<Reply> | Reply
}

const PAGES: Record<string, Handlers> = {
  '/': { get: onSale, post: buy },
  '/sales/': { get: sales, post: takeBackSale },
  '/sellers/': { get: sellers },
  '/faults/': { get: faults, post: toggle },
}

/** The pages for people at the sandbox's own address. */
export async function pages(request: Incoming, markets: Markets): Promise<Reply | undefined> {
  const file = FILES[request.path]
  if (file && request.method === 'GET') return text(file.body, file.type)
  const handlers = PAGES[request.path]
  if (!handlers) return undefined
  await lookAtAll(markets)
  if (request.method === 'GET') return handlers.get(markets)
  if (request.method !== 'POST' || !handlers.post) return undefined
  // Browsers send Origin with every form, so a call without it did not come from a button here.
  if (!request.origin) return page('Refused', '<h1>Refused</h1><p>Use the buttons of the page.</p>', 403)
  return handlers.post(markets, request.form)
}

const rowsOfAll = <T>(markets: Markets, rowsOf: (market: Market) => T[]): T[] =>
  MARKET_NAMES.flatMap((name) => rowsOf(markets[name]))

/** The market that a form names, or else `family`. */
function marketOf(markets: Markets, form: URLSearchParams): Market {
  const name = form.get('market')
  return markets[isMarketName(name) ? name : 'family']
}

function onSale(markets: Markets): Reply {
  // Both markets follow the same Steam sandbox, so either has its address and the time.
  const { nowS, steamUrl } = markets.family
  const rows = rowsOfAll(markets, (market) =>
    market
      .world()
      .items.filter(isOnSale)
      .map((item) => saleRow(market, item)),
  )
  const list =
    rows.length > 0
      ? `<ul class="rows">${rows.join('')}</ul>`
      : emptyNote(
          'Nothing is on sale. Once an account that sells has items, they appear here within a minute or two. Then reload this page.',
        )
  return page(
    'Market sandbox',
    `<h1>On sale</h1><p>It is ${moment(nowS())} here: these markets follow the clock of the
<a href="${escapeHtml(steamUrl)}/behaviours/">Steam sandbox</a>.</p>${list}`,
  )
}

const isOnSale = ({ status }: Listing): boolean => status === 'on_sale'

function saleRow(market: Market, item: Listing): string {
  const lowest = market.prices.lowest(item.name, item.currency)
  return `<li><div><strong>${escapeHtml(item.name)}</strong><p>${gameName(item.appId)} · ${market.site} · ${money(item.price, item)}, others ask ${money(lowest, item)}</p></div>
<form method="post"><input type="hidden" name="market" value="${market.name}"><input type="hidden" name="item" value="${item.itemId}">
<select name="as" aria-label="Buyer of ${escapeHtml(item.name)}">${temperOptions()}</select>
<button class="accept">Buy</button></form></li>`
}

function temperOptions(): string {
  return Object.entries(TEMPERS)
    .map(([name, line]) => `<option value="${name}" title="${escapeHtml(line)}">${name}</option>`)
    .join('')
}

async function buy(markets: Markets, form: URLSearchParams): Promise<Reply> {
  const market = marketOf(markets, form)
  const as = form.get('as')
  const bought = await market.buy([Number(form.get('item'))], isTemper(as) ? as : 'accepts')
  if (bought.kind === 'refused')
    return page('Not sold', `<h1>Not sold</h1><p>${escapeHtml(bought.error)}</p>`, 409)
  return redirect('/sales/')
}

function sales(markets: Markets): Reply {
  const deals = rowsOfAll(markets, (market) => market.world().deals.map((deal) => ({ market, deal })))
  const rows = deals
    .toSorted((one, other) => other.deal.madeAtS - one.deal.madeAtS)
    .map(({ market, deal }) => dealRow(market, deal))
  const list =
    rows.length > 0 ? `<ul class="rows">${rows.join('')}</ul>` : emptyNote('Nobody has bought anything.')
  return page('Sales', `<h1>Sales</h1>${list}`)
}

function dealRow(market: Market, deal: Deal): string {
  const items = itemsOf(market.world(), deal)
  const names = items.map(
    (item) => `${escapeHtml(item.name)}, ${money(item.price, item)}: ${stateOf(market, deal, item)}`,
  )
  const canBeTakenBack = deal.state === 'given' && items.some(({ outcome }) => outcome?.kind === 'settling')
  const button = canBeTakenBack
    ? `<form method="post"><input type="hidden" name="market" value="${market.name}"><button name="back" value="${deal.hash}">Seller takes it back</button></form>`
    : ''
  return `<li><div>${names.map((line) => `<p>${line}</p>`).join('')}<p class="note">${escapeHtml(deal.message)} · ${moment(deal.madeAtS)}</p></div>${button}</li>`
}

function stateOf(market: Market, deal: Deal, { status, outcome, ...item }: Listing): string {
  if (outcome?.kind === 'settling') return `given, to be paid on ${moment(outcome.settlesAtS)}`
  if (outcome?.kind === 'paid') return `paid, ${money(outcome.received, item)} for the seller`
  if (outcome?.kind === 'reversed') return `taken back by the ${outcome.causer ?? 'buyer'}`
  if (outcome?.kind === 'timed_out') return 'not handed over'
  const left = Math.max(0, deal.deadlineS - market.nowS())
  return status === 'waiting' ? 'the offer is out' : `sold, ${left} s left to hand it over`
}

async function takeBackSale(markets: Markets, form: URLSearchParams): Promise<Reply> {
  const market = marketOf(markets, form)
  await takeBack(markets, market, form.get('back') ?? '')
  return redirect('/sales/')
}

function sellers(markets: Markets): Reply {
  const rows = rowsOfAll(markets, sellerRows)
  const list = rows.length > 0 ? `<ul class="rows">${rows.join('')}</ul>` : emptyNote('Nobody sells here.')
  return page('Sellers', `<h1>Sellers</h1>${list}`)
}

function sellerRows(market: Market): string[] {
  const nowS = market.nowS()
  return market.world().sellers.map((seller) => {
    const facts = [
      market.site,
      isOnline(seller, nowS) ? 'online' : 'offline',
      ...(isBanned(seller, nowS) ? [`may not sell until ${moment(seller.bannedUntilS)}`] : []),
      ...(seller.keyDeleted ? ['its key was deleted: too many requests'] : []),
      `${money(seller.free, seller)} free, ${money(seller.settling, seller)} settling`,
    ]
    return `<li><div><strong>${seller.steamId}</strong><p>${facts.join(' · ')}</p></div></li>`
  })
}

/** Both markets share their faults, so this page and its switches use those of one. */
function faults({ family }: Markets): Reply {
  const activeNames = new Set<string>(family.faults.activeNames())
  const rows = Object.entries(FAULTS).map(([name, { line }]) => {
    const isOn = activeNames.has(name)
    const [verb, label] = isOn ? ['off', 'Switch off'] : ['on', 'Switch on']
    return `<li><div><code>${name}</code><p>${escapeHtml(line)}</p></div>
<button name="${verb}" value="${name}" class="${isOn ? 'accept' : ''}" aria-label="${label}: ${name}">${label}</button></li>`
  })
  return page(
    'Faults',
    `<h1>Faults</h1><p>A fault stays on until you switch it off. A fault whose line says “next” ends after one request.</p>
<form method="post"><ul class="rows">${rows.join('')}</ul></form>`,
  )
}

function toggle({ family }: Markets, form: URLSearchParams): Reply {
  const [on, off] = [form.get('on') ?? '', form.get('off') ?? '']
  if (isFault(on)) family.faults.begin(on)
  if (isFault(off)) family.faults.end(off)
  return redirect('/faults/')
}
