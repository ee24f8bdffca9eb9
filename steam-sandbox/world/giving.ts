import { CATALOGUE } from '../items.ts'
import { acceptOffer, answerConfirmation, sendOffer } from './offers.ts'
import { type Answer, findAccount, refuse, type World } from './world.ts'

/** `assetIds`: the items to give; all tradable items by default. */
export type Giving = { from: string; to: string; assetIds?: string[] }

/**
 * Gives an account's items away, as its owner or a thief with its session and phone could. Refuses with Steam's result
 * 42 for an unknown account, and with 26 if an item is missing or not tradable, or there is none to give. A refusal to
 * send or accept is returned as it is. `waits`: the recipient's phone must still confirm.
 */
export function giveAway(
  world: World,
  { from, to, assetIds }: Giving,
  nowS: number,
): Answer<{ kind: 'accepted'; tradeId: string } | { kind: 'waits' }> {
  const [giver, taker] = [findAccount(world, from), findAccount(world, to)]
  if (!giver || !taker) return refuse(world, 42)
  const give = giver.assets
    .filter(({ contextId, classId }) => contextId === '2' && CATALOGUE.get(classId)?.tradable === true)
    .filter(({ assetId }) => assetIds?.includes(assetId) ?? true)
  if (give.length === 0 || give.length < (assetIds?.length ?? 0)) return refuse(world, 26)
  const intent = { sender: from, partner: to, token: taker.token, message: '', items: [], give }
  const sent = sendOffer(world, intent, nowS)
  if (sent.answer.kind === 'refused') return { world, answer: sent.answer }
  const { offerId, needsConfirmation } = sent.answer
  const open = needsConfirmation ? answerConfirmation(sent.world, { offerId, allow: true }, nowS) : sent
  const done = acceptOffer(open.world, { offerId, by: to }, nowS)
  return done.answer.kind === 'refused' ? { world, answer: done.answer } : done
}
