import { BAD_DAYS } from '../bad-days/bad-days.ts'
import { field, json, type Reply } from '../http.ts'
import type { Sandbox } from '../sandbox.ts'
import { gainItem, loseItems } from '../world/drifting.ts'
import { giveAway } from '../world/giving.ts'
import { dismissGuest } from '../world/guests.ts'
import { acceptOffer, answerConfirmation, counterOffer, endOffer } from '../world/offers.ts'
import { PEOPLE } from '../world/people.ts'
import { withManyItems, withTwins } from '../world/seed.ts'
import { reverseAll, reverseTrade } from '../world/trades.ts'
import {
  type Account,
  findAccount,
  findOffer,
  type Refusal,
  type World,
  withAccount,
} from '../world/world.ts'
import { approveLogin, replaceQrCode } from './enrolment.ts'
import { renewToken } from './own.ts'

type Change = (sandbox: Sandbox, id: string, body: unknown) => Reply
type Done = { kind: string }

/** The calls that change one thing, by method, noun and verb of `/control/{noun}/{id}/{verb}`. */
export const CHANGES: Record<string, Change> = {
  'POST offers accept': (sandbox, id) => answerOffer(sandbox, id, 'accept'),
  'POST offers decline': (sandbox, id) => answerOffer(sandbox, id, 'decline'),
  'POST offers cancel': (sandbox, id) => cancelAsSender(sandbox, id),
  'POST offers counter': (sandbox, id, body) => counter(sandbox, id, stringsOf(field(body, 'items'))),
  'POST offers confirm': (sandbox, id) => confirm(sandbox, id, true),
  'POST offers deny': (sandbox, id) => confirm(sandbox, id, false),
  'POST bots give': (sandbox, id, body) => {
    const to = field(body, 'to')
    if (typeof to !== 'string')
      return json({ error: 'The body must have `to`, the Steam id of the account that gets the items.' }, 400)
    return give(sandbox, { from: id, to, assetIds: stringsOf(field(body, 'items')) })
  },
  'POST bots lose': (sandbox, id, body) => lose(sandbox, id, stringsOf(field(body, 'items'))),
  'POST bots find': (sandbox, id) => gain(sandbox, id),
  'POST trades reverse': (sandbox, id, body) =>
    reverse(sandbox, id, {
      assetIds: stringsOf(field(body, 'items')),
      bySupport: field(body, 'bySupport') === true,
    }),
  'POST players reverse': (sandbox, id) => {
    sandbox.change((world, nowS) => ({ world: reverseAll(world, id, nowS), answer: undefined }))
    return json({ ok: true })
  },
  'DELETE players ': (sandbox, id) => {
    sandbox.change((world, nowS) => ({ world: dismissGuest(world, id, nowS), answer: undefined }))
    return json({ ok: true })
  },
  'POST players name': rename,
  'POST players address': chooseAddress,
  'POST players token': (sandbox, id) => {
    renewToken(sandbox, id)
    return json({ ok: true })
  },
  'POST sessions expire': (sandbox, id) => endSessions(sandbox, id, 'sessionGeneration'),
  'POST sessions revoke': (sandbox, id) => endSessions(sandbox, id, 'loginGeneration'),
  'POST logins approve': approve,
  'POST logins replace': (sandbox, clientId) =>
    replaceQrCode(sandbox, clientId)
      ? json({ ok: true })
      : json({ error: 'There is no such login, or its code was replaced before.' }, 404),
  'PUT tour ': setSceneResult,
  'PUT behaviours ': switchOn,
  'DELETE behaviours ': switchOff,
}

function stringsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.map(String) : undefined
}

/** Accepts or declines as the offer's recipient. */
export function answerOffer(sandbox: Sandbox, offerId: string, how: 'accept' | 'decline'): Reply {
  const by = findOffer(sandbox.world(), offerId)?.partner
  if (by === undefined) return json({ error: 'There is no such offer.' }, 404)
  return toReply(
    sandbox.change<Done | Refusal>((world, nowS) =>
      how === 'accept'
        ? acceptOffer(world, { offerId, by }, nowS)
        : endOffer(world, { offerId, by, how }, nowS),
    ),
  )
}

/** Cancels as the offer's sender. Anybody with the sender's session could do that. */
function cancelAsSender(sandbox: Sandbox, offerId: string): Reply {
  const by = findOffer(sandbox.world(), offerId)?.sender
  if (by === undefined) return json({ error: 'There is no such offer.' }, 404)
  return toReply(
    sandbox.change<Done | Refusal>((world, nowS) => endOffer(world, { offerId, by, how: 'cancel' }, nowS)),
  )
}

/** Answers with a counteroffer as the offer's recipient. `assetIds`: the items that the recipient still gives. */
export function counter(sandbox: Sandbox, offerId: string, assetIds: string[] | undefined): Reply {
  const by = findOffer(sandbox.world(), offerId)?.partner
  if (by === undefined) return json({ error: 'There is no such offer.' }, 404)
  const part = assetIds ? { assetIds } : {}
  return toReply(
    sandbox.change<Done | Refusal>((world, nowS) => counterOffer(world, { offerId, by, ...part }, nowS)),
  )
}

type ReversalPart = { assetIds: string[] | undefined; bySupport: boolean }

/** Reverses one trade, fully or in part. */
export function reverse(sandbox: Sandbox, tradeId: string, { assetIds, bySupport }: ReversalPart): Reply {
  const part = assetIds ? { assetIds } : {}
  return toReply(
    sandbox.change<Done | Refusal>((world, nowS) =>
      reverseTrade(world, { tradeId, bySupport, ...part }, nowS),
    ),
  )
}

/** Gives items of a bot away, as its owner or a thief could. */
export function give(
  sandbox: Sandbox,
  { from, to, assetIds }: { from: string; to: string; assetIds: string[] | undefined },
): Reply {
  const giving = { from, to, ...(assetIds ? { assetIds } : {}) }
  return toReply(sandbox.change<Done | Refusal>((world, nowS) => giveAway(world, giving, nowS)))
}

/** Removes items of a bot without a trade. */
export function lose(sandbox: Sandbox, steamId: string, assetIds: string[] | undefined): Reply {
  return toReply(
    sandbox.change<Done | Refusal>((world) =>
      loseItems(world, { steamId, ...(assetIds ? { assetIds } : {}) }),
    ),
  )
}

/** Adds an item to a bot without a trade. */
export function gain(sandbox: Sandbox, steamId: string): Reply {
  return toReply(sandbox.change<Done | Refusal>((world) => gainItem(world, { steamId })))
}

function confirm(sandbox: Sandbox, offerId: string, allow: boolean): Reply {
  return toReply(
    sandbox.change<Done | Refusal>((world, nowS) => answerConfirmation(world, { offerId, allow }, nowS)),
  )
}

/** Texts for Steam's result numbers, for people who use the control API by hand. */
const REASONS: Record<number, string> = {
  11: 'The offer or trade is not in a state that allows this. It is over, taken back, or no longer protected.',
  15: 'This account may not do that.',
  26: 'One of the items is missing: its account does not have it, or the trade never contained it. Or there is no item to move.',
  28: 'This has already been done.',
  42: 'There is no such account, offer or trade.',
}

function toReply(answer: Done | Refusal): Reply {
  if (!('eresult' in answer)) return json(answer)
  return json({ ...answer, error: REASONS[answer.eresult] ?? `Steam refuses with ${answer.eresult}.` }, 409)
}

/** Ends the sessions of an account. With `loginGeneration`, its old refresh tokens become invalid too. */
function endSessions(
  sandbox: Sandbox,
  steamId: string,
  what: 'sessionGeneration' | 'loginGeneration',
): Reply {
  if (!findAccount(sandbox.world(), steamId)) return json({ error: 'There is no such account.' }, 404)
  const withoutSessions = (account: Account) => ({
    ...account,
    sessionGeneration: account.sessionGeneration + 1,
    ...(what === 'loginGeneration' ? { loginGeneration: account.loginGeneration + 1 } : {}),
  })
  sandbox.change((world) => ({ world: withAccount(world, steamId, withoutSessions), answer: undefined }))
  return json({ ok: true })
}

/** Changes a person's name. People can choose any name, including hostile ones. */
function rename(sandbox: Sandbox, steamId: string, body: unknown): Reply {
  const name = field(body, 'name')
  if (typeof name !== 'string' || name === '')
    return json({ error: 'The body must have `name`, a non-empty string.' }, 400)
  const renamed = (account: Account) => ({ ...account, name: name.slice(0, 32) })
  sandbox.change((world) => ({ world: withAccount(world, steamId, renamed), answer: undefined }))
  return json({ ok: true })
}

/** Gives a person's profile an address that its owner chose. */
function chooseAddress(sandbox: Sandbox, steamId: string, body: unknown): Reply {
  const address = field(body, 'address')
  if (typeof address !== 'string' || !/^[A-Za-z][\w-]{2,31}$/.test(address))
    return json({ error: 'The body must have `address`, 3 to 32 characters that begin with a letter.' }, 400)
  const moved = (account: Account) => ({ ...account, address })
  sandbox.change((world) => ({ world: withAccount(world, steamId, moved), answer: undefined }))
  return json({ ok: true })
}

/** The phone of `steamId` approves a login that shows a QR code. */
function approve(sandbox: Sandbox, clientId: string, body: unknown): Reply {
  const account = findAccount(sandbox.world(), String(field(body, 'steamId')))
  if (!account || !approveLogin(sandbox, clientId, account)) {
    return json({ error: 'There is no such account, or no login that it may approve with this code.' }, 404)
  }
  return json({ ok: true })
}

function setSceneResult({ tour }: Sandbox, name: string, body: unknown): Reply {
  if (tour.setResult(name, body)) return json({ ok: true })
  return json(
    { error: 'The body must have state (done or failed), summary and links, for a scene of the tour.' },
    400,
  )
}

/**
 * Switches on a behaviour or a bad day. A behaviour applies to one account or to all shoppers, and a bad day to the
 * requests about one account or to all requests. Only a bad day can end after a number of requests.
 */
export function switchOn(sandbox: Sandbox, name: string, body: unknown): Reply {
  const [steamId, times] = [field(body, 'steamId'), field(body, 'times')]
  const person = typeof steamId === 'string' ? { steamId } : {}
  if (Object.hasOwn(BAD_DAYS, name)) {
    sandbox.faults.begin(name, { ...person, ...(typeof times === 'number' ? { times } : {}) })
  } else if (Object.hasOwn(PEOPLE, name)) {
    sandbox.change((world) => {
      const others = world.switched.filter((other) => other.name !== name || other.steamId !== person.steamId)
      const switched = { ...world, switched: [...others, { name, ...person }] }
      const fill = FILLS[name]
      const filled = fill === undefined ? switched : filledBy(fill, switched, person.steamId)
      return { world: filled, answer: undefined }
    })
  } else {
    return json({ error: `There is no behaviour called ${name}.` }, 404)
  }
  return json({ ok: true })
}

/** Behaviours that add items. The items stay when the behaviour is switched off. */
const FILLS: Record<string, (world: World, steamId: string) => World> = {
  'many-items': withManyItems,
  'unmarketable-items': withTwins,
}

function filledBy(
  fill: (world: World, steamId: string) => World,
  world: World,
  steamId: string | undefined,
): World {
  const ordinary = world.accounts.filter(({ kind, behaviour }) => kind === 'shopper' && !behaviour)
  const ids = steamId === undefined ? ordinary.map((account) => account.steamId) : [steamId]
  return ids.reduce(fill, world)
}

/** Switches a behaviour or a bad day off: for one account, or wherever it is on if the body has no `steamId`. */
export function switchOff(sandbox: Sandbox, name: string, body: unknown): Reply {
  const asked = field(body, 'steamId')
  const steamId = typeof asked === 'string' ? asked : undefined
  sandbox.faults.end(name, steamId)
  const isMeant = (other: World['switched'][number]) =>
    other.name === name && (steamId === undefined || other.steamId === steamId)
  sandbox.change((world) => ({
    world: { ...world, switched: world.switched.filter((other) => !isMeant(other)) },
    answer: undefined,
  }))
  return json({ ok: true })
}
