import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { credentialsOf, deviceIdOf } from '../credentials.ts'
import { type Incoming, json, type Reply, text } from '../http.ts'
import type { Sandbox } from '../sandbox.ts'
import { answerConfirmation } from '../world/offers.ts'
import { traitsOf } from '../world/people.ts'
import { type Account, findAccount, type Offer, STATE, withAccount } from '../world/world.ts'
import { mobileSessionOf } from './login.ts'

/** How many seconds a key's time may differ from the real time. */
const KEY_LIFE_S = 300
const TYPE = { trade: 2, market: 3, apiKey: 9 } as const
/** The tags that the key of each call may use: the same tag under a newer and an older name. */
const TAGS: Record<string, readonly string[]> = {
  getlist: ['list', 'conf'],
  detailspage: ['detail', 'details'],
  allow: ['accept', 'allow'],
  cancel: ['reject', 'cancel'],
}

type Confirmation = {
  id: string
  nonce: string
  type: number
  creatorId: string
  headline: string
  createdAtS: number
}

/** The confirmations of the mobile app. Needs a session of the app, and a key made with the account's secret. */
export function mobileconf(request: Incoming, sandbox: Sandbox): Reply | undefined {
  const [, path = ''] = /^\/mobileconf\/(.+)$/.exec(request.path) ?? []
  if (path === '') return undefined
  const steamId = mobileSessionOf(request, sandbox)
  const account = findAccount(sandbox.world(), steamId ?? '')
  if (!account) return json({ success: false, needauth: true })
  const refused = sandbox.quotas.refuse(request, account.steamId)
  if (refused) return refused
  const [name = '', id = ''] = path.split('/')
  const params = request.method === 'POST' ? request.form : request.query
  const op = params.get('op') ?? ''
  const isAnswer = name === 'ajaxop' || name === 'multiajaxop'
  // Callers make their keys from the real time. The sandbox's time can be ahead of it.
  if (!isKeyOf(account, params, { tags: TAGS[isAnswer ? op : name], nowS: sandbox.clockS() })) return INVALID
  if (name === 'getlist') return json({ success: true, conf: confirmationsOf(sandbox, account).map(rowOf) })
  if (name === 'detailspage') return details(confirmationsOf(sandbox, account), id)
  if (isAnswer) return answerAll(sandbox, account, params)
  return undefined
}

const INVALID = json({
  success: false,
  message: 'Invalid authenticator',
  detail: 'It looks like your Steam Guard Mobile Authenticator is providing incorrect Steam Guard codes.',
})

type Expected = { tags: readonly string[] | undefined; nowS: number }

/** True if this account's authenticator made the key just now for this call. */
function isKeyOf(account: Account, params: URLSearchParams, { tags, nowS }: Expected): boolean {
  const [time, tag, key] = [Number(params.get('t')), params.get('tag') ?? '', params.get('k') ?? '']
  if (!tags?.includes(tag) || !Number.isInteger(time) || Math.abs(time - nowS) > KEY_LIFE_S) return false
  if (params.get('p') !== deviceIdOf(account) || params.get('a') !== account.steamId) return false
  const message = Buffer.alloc(8)
  message.writeBigUInt64BE(BigInt(time))
  const secret = Buffer.from(credentialsOf(account).identitySecret, 'base64')
  const expected = createHmac('sha1', secret).update(message).update(tag).digest()
  const sent = Buffer.from(key, 'base64')
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}

function confirmationsOf({ world }: Sandbox, account: Account): Confirmation[] {
  const waiting = world().offers.filter(
    ({ sender, partner, state, waitsForPhone }) =>
      (sender === account.steamId && state === STATE.needsConfirmation) ||
      (partner === account.steamId && state === STATE.active && waitsForPhone === true),
  )
  const forOffers = waiting.map((offer) => offerConfirmation(offer, account))
  return traitsOf(world(), account).otherConfirmations
    ? [...otherConfirmationsOf(forOffers), ...forOffers]
    : forOffers
}

function offerConfirmation({ id, createdAtS, sender }: Offer, account: Account): Confirmation {
  const headline = sender === account.steamId ? 'Trade Offer' : 'Accept Trade Offer'
  return confirmation({ type: TYPE.trade, creatorId: id, headline, createdAtS })
}

/** Confirmations of other kinds: one API key, and for each offer, a market listing with the offer's number. */
function otherConfirmationsOf(forOffers: readonly Confirmation[]): Confirmation[] {
  const headline = 'Sell - 0.03 USD'
  const listings = forOffers.map(({ creatorId, createdAtS }) =>
    confirmation({ type: TYPE.market, creatorId, headline, createdAtS }),
  )
  const key = { type: TYPE.apiKey, creatorId: '2', headline: 'Register API Key', createdAtS: 0 }
  return [...listings, confirmation(key)]
}

function confirmation(facts: Omit<Confirmation, 'id' | 'nonce'>): Confirmation {
  const digest = createHash('sha256').update(`confirmation ${facts.type} ${facts.creatorId}`).digest()
  return { ...facts, id: String(digest.readBigUInt64BE(0) >> 2n), nonce: String(digest.readBigUInt64BE(8)) }
}

function rowOf({ id, nonce, type, creatorId, headline, createdAtS }: Confirmation) {
  const name = { [TYPE.trade]: 'Trade Offer', [TYPE.market]: 'Market Listing' }[type] ?? 'API Key'
  return {
    type,
    type_name: name,
    id,
    creator_id: creatorId,
    nonce,
    creation_time: createdAtS,
    cancel: 'Cancel',
    accept: type === TYPE.trade ? 'Send Offer' : 'Confirm',
    icon: '',
    multi: true,
    headline,
    summary: ['You will give up your items', ''],
    warn: null,
  }
}

function details(listed: readonly Confirmation[], id: string): Reply {
  const found = listed.find((each) => each.id === id)
  if (!found) return text('<div class="mobileconf_empty">Oh nooooooes!</div>')
  const offer =
    found.type === TYPE.trade ? `<div class="tradeoffer" id="tradeofferid_${found.creatorId}"></div>` : ''
  return text(`<div id="mobileconf_details">${offer}</div>`)
}

/** Answers one confirmation, or several with ids and nonces in the same order. If one is unknown, answers none. */
function answerAll(sandbox: Sandbox, account: Account, params: URLSearchParams): Reply {
  const [ids, nonces] = [listOf(params, 'cid'), listOf(params, 'ck')]
  const listed = confirmationsOf(sandbox, account)
  const chosen = ids.map((id, index) => listed.find((each) => each.id === id && each.nonce === nonces[index]))
  const known = chosen.filter((each) => each !== undefined)
  if (known.length === 0 || known.length < ids.length) return FAILED
  const allow = params.get('op') === 'allow'
  const done = known.map((each) => respond(sandbox, account, { each, allow }))
  return done.every((isDone) => isDone) ? json({ success: true }) : FAILED
}

/** The values of `name`, `name[]` or `name[0]`, `name[1]`. */
const listOf = (params: URLSearchParams, name: string): string[] =>
  [...params].flatMap(([key, value]) => (key.replace(/\[\d{0,3}\]$/, '') === name ? [value] : []))

const FAILED = json({ success: false, message: 'There was a problem confirming this.' })

function respond(
  sandbox: Sandbox,
  { steamId }: Account,
  { each, allow }: { each: Confirmation; allow: boolean },
): boolean {
  if (each.type === TYPE.trade) {
    const confirm = { offerId: each.creatorId, allow }
    return sandbox.change((world, nowS) => answerConfirmation(world, confirm, nowS)).kind !== 'refused'
  }
  const withOneMore = (account: Account) => ({
    ...account,
    otherConfirmed: (account.otherConfirmed ?? 0) + 1,
  })
  if (allow)
    sandbox.change((world) => ({ world: withAccount(world, steamId, withOneMore), answer: undefined }))
  return true
}
