import { field, type Incoming, json, parseJson, type Reply } from '../http.ts'
import type { Sandbox } from '../sandbox.ts'
import { type AssetRef, acceptOffer, endOffer, sendOffer } from '../world/offers.ts'
import { findAccount, findOffer, type Refusal, withAccount } from '../world/world.ts'
import { obstacleText } from './trade-page.ts'

/** The forms of the trade pages, sent with a session. An invalid form is refused with Steam's number 8. */
export function write(request: Incoming, sandbox: Sandbox, steamId: string): Reply | undefined {
  const session = request.cookies.get('sessionid')
  // The till's client library begins the path `/trade/new/acknowledge` with two slashes.
  const path = request.path.replace(/^\/+/, '/')
  if (!session || request.form.get('sessionid') !== session) return failure('sending', 8)
  if (path === '/trade/new/acknowledge') return acknowledge(sandbox, steamId)
  if (path === '/tradeoffer/new/send') return send(request, sandbox, steamId)
  const match = /^\/tradeoffer\/(\d+)\/(cancel|decline|accept)$/.exec(path)
  const [, offerId, how] = match ?? []
  if (!offerId) return undefined
  return how === 'accept'
    ? accept(sandbox, offerId, steamId)
    : end(sandbox, offerId, { by: steamId, how: how === 'cancel' ? 'cancel' : 'decline' })
}

function acknowledge(sandbox: Sandbox, steamId: string): Reply {
  sandbox.change((world) => ({
    world: withAccount(world, steamId, (account) => ({ ...account, acknowledged: true })),
    answer: undefined,
  }))
  return json({ success: true })
}

function accept(sandbox: Sandbox, offerId: string, by: string): Reply {
  const answer = sandbox.change((world, nowS) => acceptOffer(world, { offerId, by }, nowS))
  if (answer.kind === 'accepted') return json({ tradeid: answer.tradeId })
  if (answer.kind === 'waits')
    return json({ needs_mobile_confirmation: true, needs_email_confirmation: false })
  const sender = findOffer(sandbox.world(), offerId)?.sender ?? ''
  return refuse(sandbox, answer, { doing: 'accepting', partner: sender })
}

function end(
  sandbox: Sandbox,
  offerId: string,
  { by, how }: { by: string; how: 'cancel' | 'decline' },
): Reply {
  const answer = sandbox.change((world, nowS) => endOffer(world, { offerId, by, how }, nowS))
  const doing = how === 'cancel' ? 'canceling' : 'declining'
  return answer.kind === 'refused' ? failure(doing, answer.eresult) : json({ tradeofferid: offerId })
}

function send({ form, referer }: Incoming, sandbox: Sandbox, sender: string): Reply {
  const offer = parseJson(form.get('json_tradeoffer') ?? '')
  const [items, give] = [assetsOf(offer, 'them'), assetsOf(offer, 'me')]
  const created = parseJson(form.get('trade_offer_create_params') ?? '{}')
  const token = field(created, 'trade_offer_access_token')
  const isFromTradePage = /^https:\/\/steamcommunity\.com\/tradeoffer\/(new|\d+)\//.test(referer)
  if (!items || !give || !isFromTradePage) return failure('sending', 8)
  const counters = form.get('tradeofferid_countered')
  const intent = {
    sender,
    partner: form.get('partner') ?? '',
    token: typeof token === 'string' ? token : '',
    message: form.get('tradeoffermessage') ?? '',
    items,
    give,
    ...(counters ? { counters } : {}),
  }
  const answer = sandbox.change((world, nowS) => sendOffer(world, intent, nowS))
  if (answer.kind === 'refused') return refuse(sandbox, answer, { doing: 'sending', partner: intent.partner })
  const phone = answer.needsConfirmation
    ? { needs_mobile_confirmation: true, needs_email_confirmation: false }
    : {}
  return json({ tradeofferid: answer.offerId, ...phone })
}

function refuse(
  sandbox: Sandbox,
  { eresult, text }: Refusal,
  { doing, partner }: { doing: string; partner: string },
): Reply {
  const name = findAccount(sandbox.world(), partner)?.name ?? ''
  if (text === undefined) return failure(doing, eresult)
  const opening = `You have sent too many trade offers, or have too many outstanding trade offers with ${name}.`
  const strError =
    text === 'too_many' ? `${opening} Please cancel some before sending more. (25)` : obstacleText(text, name)
  return json({ strError }, 500)
}

function failure(doing: string, eresult: number): Reply {
  const subject = doing === 'sending' ? 'your trade offer' : 'this trade offer'
  const strError = `There was an error ${doing} ${subject}.  Please try again later. (${eresult})`
  return json({ strError }, 500)
}

function assetsOf(offer: unknown, side: 'me' | 'them'): AssetRef[] | undefined {
  const assets = field(field(offer, side), 'assets')
  if (!Array.isArray(assets) || assets.length > 1000) return undefined
  return assets.map((asset: unknown) => ({
    appId: Number(field(asset, 'appid')),
    contextId: String(field(asset, 'contextid')),
    assetId: String(field(asset, 'assetid')),
  }))
}
