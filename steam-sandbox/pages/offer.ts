import { type Incoming, type Reply, redirect } from '../http.ts'
import { answerOffer, counter } from '../routes/acts.ts'
import type { Sandbox } from '../sandbox.ts'
import { findAccount, findOffer, type Offer, STATE } from '../world/world.ts'
import { escapeHtml } from './html.ts'
import { itemList, missing, moment, page, person } from './layout.ts'

const STATE_TEXTS: Record<number, string> = {
  [STATE.accepted]: 'You accepted this offer.',
  [STATE.countered]: 'You answered with a counter-offer.',
  [STATE.expired]: 'This offer has expired.',
  [STATE.canceled]: 'The bot took this offer back.',
  [STATE.declined]: 'You declined this offer.',
  [STATE.invalidItems]: 'Some of the items are not there any more.',
}

/** The page of an offer, on which a person answers it. */
export function offerPage({ world }: Sandbox, offerId: string): Reply {
  const offer = findOffer(world(), offerId)
  const sender = offer && findAccount(world(), offer.sender)
  const partner = offer && findAccount(world(), offer.partner)
  if (!offer || !sender || !partner) return missing('There is no such trade offer.')
  const receives = offer.give.length > 0 ? `<h2>Items you receive</h2>${itemList(offer.give)}` : ''
  return page(
    `Trade offer from ${sender.name}`,
    `<h1>Trade offer</h1><section class="card">${person(sender)}
<p>to ${escapeHtml(partner.name)}, with the message:</p><p class="message">${escapeHtml(offer.message)}</p></section>
${receives}<h2>Items you give</h2>${itemList(offer.items)}${answers(offer)}`,
  )
}

function answers(offer: Offer): string {
  if (offer.state === STATE.active) {
    const counterForm = `<details><summary>Counter</summary>
<p>Untick what you do not want to give. The bot gets an offer of yours in place of its own.</p>
${itemList(offer.items, { tick: 'item' })}<button name="answer" value="counter">Send the counter-offer</button></details>`
    return `<form method="post" action="/tradeoffer/${offer.id}/"><div class="answers">
<button class="accept" name="answer" value="accept">Accept</button>
<button name="answer" value="decline">Decline</button></div>${offer.items.length > 0 ? counterForm : ''}</form>`
  }
  const until = offer.escrowEndsAtS ? moment(offer.escrowEndsAtS) : ''
  const held = `You accepted. Steam holds the items until ${until}, because one of you has no mobile authenticator.`
  const ended = STATE_TEXTS[offer.state] ?? 'This offer has ended.'
  const said = offer.state === STATE.inEscrow ? held : ended
  return `<p role="status" class="card">${said} You can go back to the store's page.</p>`
}

export function answerForm(request: Incoming, sandbox: Sandbox, offerId: string): Reply | undefined {
  const how = request.form.get('answer')
  if (how === 'accept' || how === 'decline') answerOffer(sandbox, offerId, how)
  else if (how === 'counter') counter(sandbox, offerId, request.form.getAll('item'))
  else return undefined
  // A refusal needs no page of its own: the offer's page tells its state.
  return redirect(`/tradeoffer/${offerId}/`, 303)
}
