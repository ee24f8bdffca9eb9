import { type Incoming, type Reply, redirect } from '../http.ts'
import { reverse } from '../routes/changes.ts'
import { itemCountsText, lineOf } from '../routes/lines.ts'
import { type Sandbox, tradeLink } from '../sandbox.ts'
import { isProtectedNow, reverseAll } from '../world/trades.ts'
import {
  type Account,
  findAccount,
  type Offer,
  STATE,
  TRADE,
  type Trade,
  type World,
} from '../world/world.ts'
import { escapeHtml } from './html.ts'
import { htmlOfLine, itemList, linkRow, moment, notFound, page, person } from './layout.ts'

export function profilePage({ world }: Sandbox, steamId: string): Reply {
  const account = findAccount(world(), steamId)
  if (!account) return notFound('There is no such profile.')
  const open = world().offers.filter(({ partner, state }) => partner === steamId && state === STATE.active)
  const behaviourHtml = account.behaviour ? `<p>${htmlOfLine(lineOf(account.behaviour))}</p>` : ''
  const settings = `<p><a href="/profiles/${steamId}/tradeoffers/privacy">Who can send me trade offers?</a></p>`
  const link = account.kind === 'shopper' ? `${linkRow(tradeLink(account), account.name)}${settings}` : ''
  const unshown = account.assets.length - MOST_SHOWN
  const protectedNote = ({ contextId }: { contextId: string }) =>
    contextId === '16' ? '<br><small>trade-protected</small>' : ''
  return page(
    account.name,
    `<h1>Profile</h1>${person(account)}${behaviourHtml}${link}<p><a href="/profiles/${steamId}/history/">Trade history</a></p>
${openOffers(open)}<h2>Inventory</h2><p>${itemCountsText(account)}</p>${itemList(account.assets.slice(0, MOST_SHOWN), { note: protectedNote })}${unshown > 0 ? `<p>and ${unshown} more</p>` : ''}`,
  )
}

const MOST_SHOWN = 300

function openOffers(offers: Offer[]): string {
  if (offers.length === 0) return ''
  const rows = offers.map(
    ({ id, message, items }) =>
      `<li><a href="/tradeoffer/${id}/">Offer for ${items.length} ${items.length === 1 ? 'item' : 'items'}: ${escapeHtml(message)}</a></li>`,
  )
  return `<h2>Open offers</h2><ul>${rows.join('')}</ul>`
}

const STATUS_TEXTS: Record<number, string> = {
  [TRADE.complete]: 'Done',
  [TRADE.supportRollback]: 'Undone by support',
  [TRADE.selectiveRollback]: 'Undone in part',
  [TRADE.inEscrow]: 'In escrow',
  [TRADE.escrowRollback]: 'Cancelled while in escrow',
  [TRADE.protectionRollback]: 'Reversed',
}

/** A person's trades, newest first, with buttons that reverse protected trades. */
export function historyPage({ world, nowS }: Sandbox, steamId: string): Reply {
  const account = findAccount(world(), steamId)
  if (!account) return notFound('There is no such profile.')
  const trades = world()
    .trades.filter(({ sender, partner }) => sender === steamId || partner === steamId)
    .reverse()
  const rows = trades.map((trade) => tradeCard(world(), trade, { account, nowS: nowS() }))
  const hasProtected = trades.some((trade) => isProtectedNow(trade, nowS()))
  const reverseAllForm = `<form method="post"><button name="reverse" value="all">Reverse all protected trades</button>
<p>As on Steam: one click takes back every trade that is still protected, and you may not trade for 30 days.</p></form>`
  return page(
    `Trades of ${account.name}`,
    `<h1>Trade history</h1>${person(account)}${hasProtected ? reverseAllForm : ''}
${rows.join('') || '<p>There are no trades yet.</p>'}`,
  )
}

type Viewer = { account: Account; nowS: number }

function tradeCard(world: World, trade: Trade, { account, nowS }: Viewer): string {
  const otherSide = findAccount(world, trade.sender === account.steamId ? trade.partner : trade.sender)
  const isProtected = isProtectedNow(trade, nowS) && !trade.rollbackOf
  const returned = new Set(trade.items.filter((item) => item.rolledBackAssetId).map(({ assetId }) => assetId))
  const note = ({ assetId }: { assetId: string }) =>
    returned.has(assetId) ? '<br><small>went back</small>' : ''
  const notReturned = trade.items.filter(({ assetId }) => !returned.has(assetId))
  const form = `<form method="post"><input type="hidden" name="trade" value="${trade.id}">
<button name="reverse" value="one">Reverse this trade</button><details><summary>Only some of the items</summary>
${itemList(notReturned, { tick: 'item' })}<button name="reverse" value="part">Take the ticked items back</button></details></form>`
  const until = trade.settlesAtS > 0 ? ` · protected until ${moment(trade.settlesAtS)}` : ''
  const undoes = trade.rollbackOf ? ` · reversal of trade ${trade.rollbackOf}` : ''
  return `<section class="card"><h2>${STATUS_TEXTS[trade.status] ?? 'Ended'}</h2>
<p>With ${escapeHtml(otherSide?.name ?? 'somebody')} · ${moment(trade.atS)}${until}${undoes}</p>
${itemList(trade.items, { note })}${isProtected ? form : ''}</section>`
}

export function historyForm({ form }: Incoming, sandbox: Sandbox, steamId: string): Reply | undefined {
  const how = form.get('reverse')
  const tradeId = form.get('trade') ?? ''
  const assetIds = how === 'part' ? form.getAll('item') : undefined
  if (how === 'all') {
    sandbox.change((world, nowS) => ({ world: reverseAll(world, steamId, nowS), answer: undefined }))
  } else if (how === 'one' || how === 'part') {
    reverse(sandbox, tradeId, { assetIds: assetIds, bySupport: false })
  } else return undefined
  return redirect(`/profiles/${steamId}/history/`, 303)
}
