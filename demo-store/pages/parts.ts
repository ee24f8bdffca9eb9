/** The parts that change without a reload. The page's script fetches them from `/live`. */
import type { OnHold, TopUp } from '../books.ts'
import type { Note } from '../call-notes.ts'
import { type Cart, GOODS, totalOf } from '../goods.ts'
import { TEXTS } from '../texts.ts'
import type { Visitor } from '../visitor.ts'
import { clockTimeOf, dayOf, escapeHtml, money, picture, timeOf } from './layout.ts'

/** The data that the store's pages show to a visitor. */
export type StoreView = {
  visitor: Visitor
  balances: Record<string, number>
  onHold: Record<string, OnHold>
  account: Record<string, number>
  topUps: TopUp[]
  cart: Cart
  bought: Cart
  notes: readonly Note[]
}

export const liveParts = (view: StoreView): string =>
  openOfferPart(view) +
  walletPart(view) +
  cartPart(view) +
  topUpPart(view) +
  boughtPart(view) +
  accountPart(view) +
  notePart(view) +
  toCartPart(view)

export const nameOf = (id: string, { language }: Visitor): string =>
  TEXTS[language].names[id] ?? GOODS.find((good) => good.id === id)?.name ?? id

export function walletPart({ visitor, balances, onHold }: StoreView): string {
  const currencies = [...new Set([visitor.currency, ...Object.keys(balances), ...Object.keys(onHold)])]
  const rows = currencies.map((currency) => {
    const held = onHold[currency]
    const amount = balances[currency] ?? 0
    const sum = `<span class="amount${amount < 0 ? ' below' : ''}" data-currency="${escapeHtml(currency)}">${money(amount, currency, visitor.language)}</span>`
    return `<li>${sum}${held === undefined ? '' : `<span class="on-hold">${onHoldText(held, currency, visitor)}</span>`}</li>`
  })
  const isBelowZero = Object.values(balances).some((amount) => amount < 0)
  const warning = isBelowZero ? `<p class="notice">${TEXTS[visitor.language].below}</p>` : ''
  return `<div id="balances" data-live aria-live="polite"><ul class="balances">${rows.join('')}</ul>${warning}</div>`
}

const onHoldText = (onHold: OnHold, currency: string, visitor: Visitor): string =>
  `${TEXTS[visitor.language].onHold} ${sumUntil(onHold, currency, visitor)}`

function sumUntil({ amount, until }: OnHold, currency: string, visitor: Visitor): string {
  const day = until === null ? '' : ` ${TEXTS[visitor.language].until} ${dayOf(until, visitor)}`
  return `${money(amount, currency, visitor.language)}${day}`
}

/** Says which part of a successful top-up can be spent, and which is on hold; undefined if all was taken back. */
export function arrivedText(
  { amount, held, heldUntil, reversed, currency }: TopUp,
  visitor: Visitor,
): string | undefined {
  const texts = TEXTS[visitor.language]
  const spendable = (amount ?? 0) - held - reversed
  if (held === 0) return spendable > 0 ? texts.arrived : undefined
  const onHold = sumUntil({ amount: held, until: heldUntil }, currency, visitor)
  return spendable > 0
    ? texts.arrivedInPart(money(spendable, currency, visitor.language), onHold)
    : texts.arrivedOnHold(onHold)
}

/** Returns the cart's price less the balance, in minor units: zero or less if the balance covers it. */
export function missingAmount({
  visitor: { currency },
  cart,
  balances,
}: Pick<StoreView, 'visitor' | 'cart' | 'balances'>): number {
  return totalOf(cart, currency) - (balances[currency] ?? 0)
}

/** Leads back to an open offer before the shopper begins another top-up. */
export function openOfferPart({ visitor, topUps }: Pick<StoreView, 'visitor' | 'topUps'>): string {
  const texts = TEXTS[visitor.language]
  const url = topUps.find(({ status }) => status === 'pending')?.url
  const notice = url
    ? `<p class="open-offer">${texts.openOffer} <a href="${escapeHtml(url)}">${texts.toOpenOffer}</a></p>`
    : ''
  return `<div id="open-offer" data-live aria-live="polite">${notice}</div>`
}

/** A link to the cart, which is below all the goods on a narrow page. */
export function toCartPart({ visitor, cart }: Pick<StoreView, 'visitor' | 'cart'>): string {
  const total = totalOf(cart, visitor.currency)
  const label = `${TEXTS[visitor.language].cart} · ${money(total, visitor.currency, visitor.language)}`
  const link = total === 0 ? '' : `<a class="button primary" href="#cart-title">${label}</a>`
  return `<div id="to-cart" class="to-cart" data-live>${link}</div>`
}

/** The cart and its pay button, inside the payment form. */
export function cartPart(view: StoreView): string {
  const { visitor, cart, balances } = view
  const { language, currency } = visitor
  const texts = TEXTS[language]
  const total = totalOf(cart, currency)
  if (total === 0) return `<div id="cart" data-live><p class="quiet">${texts.cartEmpty}</p></div>`
  const lines = GOODS.filter(({ id }) => (cart[id] ?? 0) > 0).map((good) => {
    const name = escapeHtml(nameOf(good.id, visitor))
    const step = (by: 'less' | 'more', sign: string) =>
      `<button form="steps" formaction="/cart?by=${by}" name="good" value="${good.id}" data-quiet aria-label="${texts[by]}: ${name}">${sign}</button>`
    return `<li><span class="line-name">${name}</span><span class="stepper">${step('less', '−')}<b>${cart[good.id]}</b>${step('more', '+')}</span>
<span class="sum">${money(good[currency] * (cart[good.id] ?? 0), currency, visitor.language)}</span></li>`
  })
  const leftToPay = missingAmount(view)
  const fromBalance = Math.min(Math.max(balances[currency] ?? 0, 0), total)
  const row = (label: string, amount: number, look = '') =>
    `<p class="row ${look}"><span>${label}</span><span class="sum">${money(amount, currency, visitor.language)}</span></p>`
  const button =
    leftToPay <= 0
      ? `<button class="primary" formaction="/purchases">${texts.payBalance}</button>`
      : `<button class="primary" name="for" value="cart">${texts.payItems}</button>`
  return `<div id="cart" data-live><ul class="lines">${lines.join('')}</ul>${row(texts.total, total, 'total')}
${fromBalance > 0 ? row(texts.fromBalance, -fromBalance, 'quiet') : ''}${fromBalance > 0 && leftToPay > 0 ? row(texts.toPay, leftToPay, 'total') : ''}${button}</div>`
}

export function boughtPart({ visitor, bought }: StoreView): string {
  const rows = Object.entries(bought).map(
    ([id, count]) => `<li>${picture(id)}<span>${escapeHtml(nameOf(id, visitor))} × ${count}</span></li>`,
  )
  const title = TEXTS[visitor.language].bought
  const section = rows.length === 0 ? '' : `<h2>${title}</h2><ul class="things">${rows.join('')}</ul>`
  return `<div id="bought" data-live>${section}</div>`
}

/** The store's account at the till, which a real store would not show to shoppers. */
export function accountPart({ visitor, account }: StoreView): string {
  const sums = Object.entries({ USD: 0, ...account }).map(([currency, amount]) =>
    money(amount, currency, visitor.language),
  )
  return `<p id="account" class="quiet" data-live>${TEXTS[visitor.language].account} ${sums.join(', ')}</p>`
}

const TONES: Record<string, string> = { created: 'wait', pending: 'wait', succeeded: 'good' }

/** While none of a top-up's money can be spent, it is not called credited. */
function outcomeOf({ status, reason, amount, held, reversed }: TopUp): { key: string; tone: string } {
  if (amount !== null && reversed >= amount) return { key: 'reversed', tone: 'bad' }
  if (amount !== null && held > 0 && held + reversed >= amount) return { key: 'held', tone: 'wait' }
  if (held > 0) return { key: 'partlyHeld', tone: 'good' }
  if (reason === 'cancelled_by_store') return { key: 'cancelled', tone: 'bad' }
  return { key: status, tone: TONES[status] ?? 'bad' }
}

export function topUpPart({ visitor, topUps }: StoreView): string {
  const texts = TEXTS[visitor.language]
  if (topUps.length === 0) return `<div id="top-ups" data-live><p class="quiet">${texts.noTopUps}</p></div>`
  const rows = topUps.map((topUp) => {
    const { key, tone } = outcomeOf(topUp)
    const buys = topUp.cart !== 'none' ? ` <small class="quiet">${texts.buys}</small>` : ''
    return `<tr><td data-label="${texts.opened}">${timeOf(topUp.createdAt)}</td>
<td data-label="${texts.payment}">${paymentOf(topUp, visitor)}</td>
<td data-label="${texts.status}"><span class="status ${tone}">${escapeHtml(texts.outcomes[key] ?? key)}</span>${buys}</td><td class="sum" data-label="${texts.credited}">${sumsOf(topUp, visitor)}</td></tr>`
  })
  const heads = [texts.opened, texts.payment, texts.status].map((head) => `<th scope="col">${head}</th>`)
  return `<div id="top-ups" data-live><table><thead><tr>${heads.join('')}<th scope="col" class="sum">${texts.credited}</th></tr></thead>
<tbody>${rows.join('')}</tbody></table></div>`
}

/** The payment's number, with links to its page and its receipt. */
function paymentOf({ depositId, status, url, receiptUrl }: TopUp, { language }: Visitor): string {
  const texts = TEXTS[language]
  const isOpen = status === 'created' || status === 'pending'
  const number = depositId === null ? '' : `<b>#${escapeHtml(depositId)}</b>`
  const link = (to: string | null, text: string) =>
    to === null ? '' : `<a href="${escapeHtml(to)}">${text}</a>`
  const receipt = receiptUrl && `${receiptUrl}?lang=${language}`
  const parts = [number, link(url, isOpen ? texts.resume : texts.openPayment), link(receipt, texts.receipt)]
  return `<span class="ways">${parts.filter((part) => part !== '').join(' ')}</span>`
}

/** Up to three amounts: the part that was credited, the part on hold, and the part taken back on Steam. */
function sumsOf({ amount, held, heldUntil, reversed, currency }: TopUp, visitor: Visitor): string {
  if (amount === null) return ''
  const isHeld = held > 0
  const holdNote = `<small class="held">${onHoldText({ amount: held, until: heldUntil }, currency, visitor)}</small>`
  const takenBackNote = `<small class="reversed">−${money(reversed, currency, visitor.language)} ${TEXTS[visitor.language].takenBack}</small>`
  return [
    `+${money(amount - held, currency, visitor.language)}`,
    ...(isHeld ? [holdNote] : []),
    ...(reversed > 0 ? [takenBackNote] : []),
  ].join('<br>')
}

/** Notes, newest first. Opened notes stay open when a new one is inserted. */
export function notePart({ visitor, notes }: StoreView): string {
  const rows = notes.map(
    ({ number, atMs, from, what, outcome, isGood, content }) => `<li id="note-${number}" class="note">
<details><summary>${clockTimeOf(new Date(atMs).toISOString())} <span class="from">${from === 'store' ? '→' : '←'}</span>
<span class="what">${escapeHtml(what)}</span> <span class="status ${isGood ? 'good' : 'bad'}">${escapeHtml(outcome)}</span></summary>
<pre tabindex="0">${escapeHtml(content)}</pre></details></li>`,
  )
  const empty =
    notes.length === 0 ? `<li class="quiet" id="note-0">${TEXTS[visitor.language].drawerEmpty}</li>` : ''
  return `<ol id="notes" class="notes" data-live="list">${rows.join('')}${empty}</ol>`
}
