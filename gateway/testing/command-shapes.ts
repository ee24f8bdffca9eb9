/** The output of every command with `--json`. */
import { z } from 'zod'
import { DEPOSIT_SHAPES } from './deposit-shapes.ts'
import { OPERATOR_SHAPES } from './operator-shapes.ts'
import { OVERVIEW_SHAPES } from './overview-shapes.ts'
import { reportedSales } from './sale-shapes.ts'
import { amount, game, id, time } from './shapes.ts'
import { SHOPPER_SHAPES } from './shopper-shapes.ts'
import { STORE_SHAPES } from './store-shapes.ts'

const addedBot = z.strictObject({
  botId: id,
  steamId: z.string(),
  name: z.string(),
  tokenExpiresAt: time.nullable(),
  protectionAcknowledged: z.boolean(),
  areOffersListed: z.boolean(),
  ownHoldDays: z.int().nullable(),
})
const listedBot = z.strictObject({
  botId: id,
  steamId: z.string(),
  name: z.string(),
  level: z.int(),
  state: z.string(),
  stateReason: z.string().nullable(),
  hasGateway: z.boolean(),
  loginAfter: time.nullable(),
  reachable: z.boolean(),
  itemsHeld: z.int(),
  tokenExpiresAt: time.nullable(),
  tokenEndsSoon: z.boolean(),
  history: z.strictObject({ completeAt: time.nullable() }).nullable(),
  bars: z.array(z.strictObject({ scope: z.string(), reason: z.string(), until: time, times: z.int() })),
})
const changedBot = z.strictObject({ botId: id, name: z.string(), state: z.string() })
const target = z.strictObject({ game, item: z.string().nullable() })
const hold = z.strictObject({
  ...target.shape,
  hold: z.enum(['blocked', 'frozen', 'override']),
  usdMicros: z.int().nullable(),
  since: time,
})
const switched = z.strictObject({
  on: z.boolean(),
  text: z.strictObject({ en: z.string(), ru: z.string() }).nullable(),
  until: time.nullable(),
})
const recounted = z.strictObject({ bots: z.int(), stores: z.int() })

export const SHAPES: Record<string, z.ZodObject> = {
  ...DEPOSIT_SHAPES,
  ...STORE_SHAPES,
  ...SHOPPER_SHAPES,
  ...OVERVIEW_SHAPES,
  'bot enrol': addedBot,
  'bot add': z.strictObject({
    added: z.array(addedBot),
    refused: z.array(z.strictObject({ line: z.int(), message: z.string() })),
  }),
  'bot renew': z.strictObject({
    renewed: z.array(addedBot),
    refused: z.array(z.strictObject({ botId: id, message: z.string() })),
  }),
  /** `tooMany`: bots without a gateway, because every gateway is full. */
  'bot list': z.strictObject({ bots: z.array(listedBot), tooMany: z.int(), disarmed: z.boolean() }),
  'bot show': z.strictObject({
    ...listedBot.shape,
    profileUrl: z.string(),
    offersFailingSince: time.nullable(),
    inventoriesFailingSince: time.nullable(),
    games: z.array(
      z.strictObject({
        game,
        held: z.int(),
        protected: z.int(),
        onTheWay: z.int(),
        most: z.int(),
        room: z.int(),
      }),
    ),
    offers: z.array(
      z.strictObject({
        tradeId: id,
        depositId: id,
        state: z.string(),
        game,
        partnerSteamId: z.string(),
        offerId: z.string().nullable(),
        items: z.int(),
        deadline: time.nullable(),
        createdAt: time,
      }),
    ),
    mostOffers: z.int(),
    refusals: z.array(z.strictObject({ refusal: z.string(), game, times: z.int(), lastAt: time })),
    calls: z.strictObject({ asked: z.int(), limited: z.int(), failed: z.int(), heldBack: z.int() }),
  }),
  'bot disarm': z.strictObject({ armed: z.boolean() }),
  'bot arm': z.strictObject({ armed: z.boolean() }),
  'bot pause': changedBot,
  'bot resume': changedBot,
  'bot retire': changedBot,
  'bot remove': changedBot,
  'key-ring status': z.strictObject({
    fingerprint: z.string(),
    known: z.array(z.string()),
    values: z.int(),
    left: z.int(),
  }),
  'key-ring forget': z.strictObject({ bots: z.int(), endpoints: z.int() }),
  'key-ring rotate': z.strictObject({ resealed: z.int(), left: z.int(), unreadable: z.int() }),
  'price show': z.strictObject({
    game,
    item: z.string(),
    pricedAs: z.string(),
    sources: z.array(
      z.strictObject({
        source: z.string(),
        usdMicros: z.int(),
        levelUsdMicros: z.int().nullable(),
        popularity: z.int(),
        popularityKind: z.enum(['sales7d', 'sales30d', 'listings']),
        asOf: time,
        earlier: z.strictObject({ usdMicros: z.int(), asOf: time }).nullable(),
        ageSeconds: z.int(),
        fresh: z.boolean(),
      }),
    ),
    holds: z.array(hold),
    commissionBps: z.int(),
    verdict: z.string(),
    worthUsdMicros: z.int().nullable(),
    credit: amount.nullable(),
    unavailable: z.string().nullable(),
  }),
  'price block': hold,
  'price freeze': hold,
  'price override': hold,
  'price coverage': z.strictObject({
    game,
    items: z.int(),
    bands: z.array(
      z.strictObject({
        fromUsd: z.int(),
        accepted: z.int(),
        not_popular: z.int(),
        no_price: z.int(),
        in_dispute: z.int(),
        too_cheap: z.int(),
        blocked: z.int(),
        examples: z.array(z.strictObject({ item: z.string(), verdict: z.string() })),
      }),
    ),
    losses: z.array(
      z.strictObject({ item: z.string(), sales: z.int(), currency: z.string(), resultMinor: z.int() }),
    ),
  }),
  'price release': target,
  'price list': z.strictObject({
    feeds: z.array(
      z.strictObject({
        source: z.string(),
        feed: z.string(),
        goodAt: time.nullable(),
        failures: z.int(),
        lastError: z.string().nullable(),
      }),
    ),
    holds: z.array(hold),
  }),
  'maintenance on': switched,
  'maintenance off': switched,
  'clock advance': z.strictObject({ aheadSeconds: z.int() }),
  'backup create': z.strictObject({ path: z.string(), bytes: z.int().nullable() }),
  'backup check': z.strictObject({
    mode: z.enum(['sandbox', 'live']),
    isOwnKey: z.boolean(),
    missing: z.array(z.string()),
    stores: z.int(),
    deposits: z.int(),
    events: z.int(),
    entries: z.int(),
    depositAt: time.nullable(),
    eventAt: time.nullable(),
    entryAt: time.nullable(),
    differences: z.int(),
  }),
  'backup restore': z.strictObject({ dataDir: z.string() }),
  'migrate run': z.strictObject({ applied: z.array(z.string()) }),
  'migrate status': z.strictObject({
    applied: z.array(z.strictObject({ migration: z.string(), oldestVersion: z.string().nullable() })),
    missing: z.array(z.string()),
  }),
  'restore status': z.strictObject({
    epoch: z.int().nullable(),
    found: z.string().nullable(),
    disarmed: z.boolean(),
  }),
  'restore finish': z.strictObject({ epoch: z.int(), stores: z.int(), skipped: z.int(), recounted }),
  'restore recount': recounted,
  doctor: z.strictObject({
    findings: z.array(
      z.strictObject({
        check: z.string(),
        state: z.enum(['good', 'mend', 'not_checked']),
        says: z.string(),
        advice: z.string().nullable(),
      }),
    ),
    toMend: z.int(),
    notChecked: z.int(),
  }),
  'items sold': z.strictObject({
    sold: z.array(z.strictObject({ item: z.string(), market: z.string(), reference: z.string() })),
    refused: z.array(z.strictObject({ line: z.int(), message: z.string() })),
  }),
  'market list': z.strictObject({
    markets: z.array(
      z.strictObject({
        market: z.string(),
        isOff: z.boolean(),
        offSince: time.nullable(),
        listed: z.int(),
        unpaid: z.int(),
        waiting: z.int(),
      }),
    ),
    needs: z.array(z.strictObject({ kind: z.string(), about: z.string(), text: z.string(), since: time })),
    unlisted: z.array(
      z.strictObject({
        market: z.string(),
        account: z.string(),
        appId: z.int().nullable(),
        reason: z.string(),
        items: z.int().nullable(),
        detail: z.string(),
        saidAt: time,
      }),
    ),
  }),
  'market off': z.strictObject({ market: z.string(), isOff: z.boolean() }),
  'market on': z.strictObject({ market: z.string(), isOff: z.boolean() }),
  'report sales': reportedSales,
  'ledger verify': z.strictObject({
    entries: z.int(),
    differences: z.array(z.strictObject({ problem: z.string(), detail: z.string() })),
  }),
  ...OPERATOR_SHAPES,
  acts: z.strictObject({
    acts: z.array(
      z.strictObject({
        actId: id,
        at: time,
        operator: z.string(),
        act: z.string(),
        arguments: z.record(z.string(), z.unknown()),
        reason: z.string().nullable(),
      }),
    ),
    next: id.nullable(),
  }),
  trigger: z.strictObject({
    depositId: z.string(),
    deliveries: z.array(
      z.strictObject({
        type: z.string(),
        sequence: z.int(),
        url: z.string(),
        status: z.int().nullable(),
        isTaken: z.boolean(),
        failure: z.string().nullable(),
      }),
    ),
  }),
  listen: z.strictObject({ sequence: z.int(), sent: z.int() }),
  verify: z.strictObject({
    url: z.string(),
    checks: z.array(
      z.strictObject({
        check: z.string(),
        title: z.string(),
        result: z.enum(['passed', 'failed', 'incomplete']),
        detail: z.string().nullable(),
        document: z.string(),
      }),
    ),
  }),
}
