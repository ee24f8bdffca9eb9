import { type Incoming, type Reply, redirect } from '../http.ts'
import { answerOffer, counter } from '../routes/changes.ts'
import type { Sandbox } from '../sandbox.ts'
import { type Account, type Asset, findAccount, findOffer, type Offer, STATE } from '../world/world.ts'
import { escapeHtml } from './html.ts'
import { itemList, moment, notFound, page, person } from './layout.ts'

const STATE_TEXTS: Record<number, string> = {
  [STATE.accepted]: 'You accepted this offer.',
  [STATE.countered]: 'You answered with a counteroffer.',
  [STATE.expired]: 'This offer has expired.',
  [STATE.canceled]: 'The sender cancelled this offer.',
  [STATE.declined]: 'You declined this offer.',
  [STATE.invalidItems]: 'Some of the items are no longer available.',
  [STATE.needsConfirmation]: 'The sender has not confirmed this offer on the phone yet.',
}

/** The steps between pressing Accept and the move of the items. */
const STEPS = ['gift', 'phone'] as const

type Step = (typeof STEPS)[number]

export function offerPage({ world }: Sandbox, offerId: string, { query }: Incoming): Reply {
  const offer = findOffer(world(), offerId)
  const sender = offer && findAccount(world(), offer.sender)
  const partner = offer && findAccount(world(), offer.partner)
  if (!offer || !sender || !partner) return notFound('There is no such trade offer.')
  const step = STEPS.find((known) => known === query.get('step'))
  if (step !== undefined && offer.state === STATE.active) return stepPage(offer, step, sender)
  const side = (title: string, items: Asset[]) =>
    `<section><h2>${title}</h2>${items.length > 0 ? itemList(items) : '<p class="nothing">Nothing</p>'}</section>`
  return page(
    `Trade offer from ${sender.name}`,
    `<h1>Trade offer</h1><section class="card">${person(sender)}
<p>to ${escapeHtml(partner.name)}, with the message:</p><p class="message">${escapeHtml(offer.message)}</p></section>
<div class="sides">${side('Your items', offer.items)}${side(`Items of ${escapeHtml(sender.name)}`, offer.give)}</div>${answerSection(offer)}`,
  )
}

/** Like Steam, asks whether a trade that gives a person nothing is a gift. The phone confirms every trade. */
function stepPage(offer: Offer, step: Step, sender: Account): Reply {
  const button = (answer: string, text: string) =>
    `<button class="accept" name="answer" value="${answer}">${text}</button>`
  const form = (yes: string) =>
    `<form method="post" action="/tradeoffer/${offer.id}/"><div class="answers">${yes}
<a class="button" href="/tradeoffer/${offer.id}/">Cancel</a></div></form>`
  const name = escapeHtml(sender.name)
  const gives = `${offer.items.length} ${offer.items.length === 1 ? 'item' : 'items'}`
  if (step === 'gift') {
    return page(
      'Is this a gift?',
      `<section class="card warning" role="alert"><h1>Is this a gift?</h1>
<p>You give ${gives} to ${name} and <strong>get nothing in return</strong>. Are you sure?</p>
${form(button('gift', 'Yes, this is a gift'))}</section>`,
    )
  }
  return page(
    'Confirm in the Steam app',
    `<p>Steam waits for your phone.</p><section class="card phone" aria-label="Your phone"><p>Steam app</p>
<h1>Confirm the trade?</h1><p>With ${name}, ${sender.level === 0 ? 'a new account' : `level ${sender.level}`}</p>
${handover('You give', offer.items)}${handover('You get', offer.give)}
${form(button('confirm', 'Confirm'))}</section>`,
  )
}

/** A list of more items than this scrolls, so the keyboard must reach it. */
const MOST_AT_ONCE = 3

/** One side of the trade, as the phone shows it. A long list scrolls, so the buttons stay in view. */
function handover(title: string, items: Asset[]): string {
  const count = items.length > 1 ? `: ${items.length} items` : ''
  const list = items.length === 0 ? '<p class="nothing">Nothing</p>' : itemList(items)
  const scrolls = items.length > MOST_AT_ONCE ? ` role="group" aria-label="${title}" tabindex="0"` : ''
  return `<h2>${title}${count}</h2><div class="handover"${scrolls}>${list}</div>`
}

function answerSection(offer: Offer): string {
  if (offer.state === STATE.active) {
    const counterForm = `<details><summary>Counter</summary>
<p>Untick what you do not want to give. Your offer then replaces this one.</p>
${itemList(offer.items, { tick: 'item' })}<button name="answer" value="counter">Send the counteroffer</button></details>`
    return `<form method="post" action="/tradeoffer/${offer.id}/"><div class="answers">
<button class="accept" name="answer" value="accept">Accept</button>
<button name="answer" value="decline">Decline</button></div>${offer.items.length > 0 ? counterForm : ''}</form>`
  }
  const until = offer.escrowEndsAtS ? moment(offer.escrowEndsAtS) : ''
  const inEscrow = `You accepted. Steam holds the items until ${until}, because one of you has no mobile authenticator.`
  const ended = STATE_TEXTS[offer.state] ?? 'This offer has ended.'
  const outcome = offer.state === STATE.inEscrow ? inEscrow : ended
  return `<p role="status" class="card">${outcome} You can go back to the store's page.</p>`
}

export function answerForm(request: Incoming, sandbox: Sandbox, offerId: string): Reply | undefined {
  const answer = request.form.get('answer')
  const offer = findOffer(sandbox.world(), offerId)
  // Steam asks only about gifts, but the phone confirms every trade.
  if (answer === 'accept') return redirectToStep(offerId, offer?.give.length ? 'phone' : 'gift')
  if (answer === 'gift') return redirectToStep(offerId, 'phone')
  if (answer === 'confirm') answerOffer(sandbox, offerId, 'accept')
  else if (answer === 'decline') answerOffer(sandbox, offerId, 'decline')
  else if (answer === 'counter') counter(sandbox, offerId, request.form.getAll('item'))
  else return undefined
  // A refusal has no separate page, because the offer's page shows the offer's state.
  return redirect(`/tradeoffer/${offerId}/`, 303)
}

const redirectToStep = (offerId: string, step: Step): Reply =>
  redirect(`/tradeoffer/${offerId}/?step=${step}`, 303)
