import { GOODS, type Good } from '../goods.ts'
import type { Player } from '../sandbox-players.ts'
import { TEXTS } from '../texts.ts'
import type { Visitor } from '../visitor.ts'
import { escapeHtml, money, page, picture } from './layout.ts'
import {
  accountPart,
  boughtPart,
  cartPart,
  nameOf,
  notePart,
  openOfferPart,
  type StoreView,
  toCartPart,
  topUpPart,
  walletPart,
} from './parts.ts'

type Home = {
  view: StoreView
  players: Player[] | undefined
  sandboxUrl: string
  thanks: string | undefined
}

export function homePage({ view, players, sandboxUrl, thanks }: Home): string {
  const { visitor } = view
  const texts = TEXTS[visitor.language]
  const main = `${thanks === undefined ? '' : `<p class="thanks" role="status">${thanks}</p>`}${openOfferPart(view)}
<div class="columns">
<section class="goods-part" aria-labelledby="goods-title"><h1 id="goods-title">${texts.goods}</h1>
<p class="quiet">${texts.goodsHint}</p>
<form method="post" action="/cart?by=more" data-quiet><ul class="goods">${GOODS.map((good) => goodCard(good, visitor)).join('')}</ul></form>
${toCartPart(view)}</section>
<div class="side">${wallet(view)}${payment(view, players, sandboxUrl)}</div>
</div>
<section class="card" aria-labelledby="recent-title"><h2 id="recent-title">${texts.recent}</h2>
<p class="quiet">${texts.recentHint} <a href="/help">${texts.helpTitle}</a></p>
${topUpPart(view)}${accountPart(view)}
<form method="post" action="/reconcile"><button type="submit">${texts.check}</button></form></section>
${drawer(view)}`
  return page({ title: 'Ember Forge', visitor, main })
}

function goodCard(good: Good, visitor: Visitor): string {
  const { currency, language } = visitor
  const name = escapeHtml(nameOf(good.id, visitor))
  return `<li class="good-card tint-${good.tint}">${picture(good.id)}<h2>${name}</h2><p class="price">${money(good[currency], currency, visitor.language)}</p>
<button name="good" value="${good.id}" aria-label="${TEXTS[language].add}: ${name}">${TEXTS[language].add}</button></li>`
}

const wallet = (view: StoreView): string => `<section class="card hero" aria-labelledby="balance-title">
<h2 id="balance-title">${TEXTS[view.visitor.language].available}</h2>${walletPart(view)}${boughtPart(view)}</section>`

/**
 * The form that pays for the cart or tops up the balance, in the visitor's own name or as one of the sandbox's players.
 * The empty form `steps` belongs to the buttons that change the cart, because a form cannot contain another.
 */
function payment(view: StoreView, players: Player[] | undefined, sandboxUrl: string): string {
  const texts = TEXTS[view.visitor.language]
  return `<form id="steps" method="post" action="/cart?by=more" data-quiet></form>
<form method="post" action="/top-ups" class="card payment" aria-labelledby="cart-title">
<h2 id="cart-title">${texts.cart}</h2>${cartPart(view)}
<button class="second" type="submit">${texts.topUp}</button>
<fieldset class="where"><legend>${texts.where}</legend>
<label class="tick"><input type="radio" name="where" value="page" checked>${texts.wherePage}</label>
<label class="tick"><input type="radio" name="where" value="here">${texts.whereHere}</label></fieldset>
<label class="tick"><input type="checkbox" name="hold">${texts.hold}</label>
<section class="play" aria-labelledby="play-title"><h3 id="play-title">${texts.play}</h3>${playerList(view.visitor, players, sandboxUrl)}</section>
</form>`
}

function playerList({ language }: Visitor, players: Player[] | undefined, sandboxUrl: string): string {
  const texts = TEXTS[language]
  if (players === undefined) return `<p class="notice">${texts.sandboxDown}</p>`
  const buttons = players.map(({ name, line }) => {
    const escapedName = escapeHtml(name)
    return `<li><button name="play" value="${escapedName}">${escapedName}</button> <small class="quiet">${escapeHtml(line)}</small></li>`
  })
  const more = `<a href="${escapeHtml(sandboxUrl)}/">${texts.playOthers}</a>`
  return `<p class="quiet">${texts.playHint}</p><ul class="players">${buttons.join('')}</ul><p class="quiet">${texts.playMore} ${more}</p>`
}

export function drawer(view: StoreView): string {
  const texts = TEXTS[view.visitor.language]
  return `<details class="card drawer" open><summary><h2>${texts.drawer}</h2></summary>
<p class="quiet">${texts.drawerHint}</p>${notePart(view)}</details>`
}
