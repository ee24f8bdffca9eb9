/** What every command prints with `--json`. */
import { z } from 'zod'

const id = z.string().regex(/^[1-9]\d*$/)
const time = z.iso.datetime()
const minor = z.int()
const currency = z.enum(['USD', 'EUR', 'BRL'])
const game = z.enum(['cs', 'dota', 'rust', 'tf'])
const scopes = z.array(z.string())

const addedBot = z.strictObject({
  botId: id,
  steamId: z.string(),
  name: z.string(),
  tokenExpiresAt: time.nullable(),
  protectionAcknowledged: z.boolean(),
  ownHoldDays: z.int().nullable(),
})
const changedBot = z.strictObject({ botId: id, name: z.string(), state: z.string() })
const deniedShopper = z.strictObject({
  steamId: z.string(),
  reason: z.string(),
  deniedAt: z.iso.datetime(),
  openTrades: z.array(
    z.strictObject({
      tradeId: z.string(),
      depositId: z.string(),
      botId: z.string(),
      offerId: z.string().nullable(),
    }),
  ),
})

const changedTrade = z.strictObject({
  tradeId: id,
  depositId: id,
  state: z.string(),
  depositStatus: z.string(),
  steamTradeId: z.string().nullable(),
})
const target = z.strictObject({ game, item: z.string().nullable() })
const hold = z.strictObject({ ...target.shape, hold: z.enum(['blocked', 'frozen']), since: time })
const freshKey = z.strictObject({ keyId: z.string(), apiKey: z.string() })
const switched = z.strictObject({ on: z.boolean() })
const amount = z.strictObject({ amountMinor: minor, currency })

const recounted = z.strictObject({ bots: z.int(), stores: z.int() })
const listedItem = z.strictObject({
  item: z.string(),
  storeId: id,
  depositId: id,
  tradeId: id,
  bot: z.string(),
  botSteamId: z.string(),
  appId: z.int(),
  assetId: z.string().nullable(),
  givenAssetId: z.string(),
  marketHashName: z.string(),
  state: z.enum(['protected', 'held', 'departed', 'moved', 'back']),
  priceMinor: minor,
  grossMinor: minor,
  currency,
  receivedAt: time,
  protectedUntil: time.nullable(),
  leftAt: time.nullable(),
  departureId: id.nullable(),
})

export const SHAPES: Record<string, z.ZodObject> = {
  'bot enrol': addedBot,
  'bot add': z.strictObject({
    added: z.array(addedBot),
    refused: z.array(z.strictObject({ line: z.int(), message: z.string() })),
  }),
  'bot renew': z.strictObject({
    renewed: z.array(addedBot),
    refused: z.array(z.strictObject({ botId: id, message: z.string() })),
  }),
  'bot list': z.strictObject({
    bots: z.array(
      z.strictObject({
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
      }),
    ),
    tooMany: z.int(),
    disarmed: z.boolean(),
  }),
  'bot disarm': z.strictObject({ armed: z.boolean() }),
  'bot arm': z.strictObject({ armed: z.boolean() }),
  'bot pause': changedBot,
  'bot resume': changedBot,
  'bot retire': changedBot,
  'bot remove': changedBot,
  'items list': z.strictObject({ items: z.array(listedItem), next: id.nullable() }),
  'items show': z.strictObject({
    items: z.array(
      listedItem.extend({
        moves: z.array(
          z.strictObject({
            moved: z.enum(['in', 'back', 'out']),
            at: time,
            bot: z.string(),
            assetId: z.string().nullable(),
            departureId: id.nullable(),
            partnerSteamId: z.string().nullable(),
          }),
        ),
      }),
    ),
  }),
  'items export': z.strictObject({
    items: z.array(
      z.strictObject({
        item: z.string(),
        bot: z.string(),
        botSteamId: z.string(),
        appId: z.int(),
        assetId: z.string().nullable(),
        marketHashName: z.string(),
        priceMinor: minor,
        currency,
        receivedAt: time,
        protectedUntil: time.nullable(),
      }),
    ),
  }),
  'items moved': z.strictObject({
    moved: z.array(z.string()),
    refused: z.array(z.strictObject({ item: z.string(), message: z.string() })),
  }),
  'items departures': z.strictObject({
    departures: z.array(
      z.strictObject({
        departureId: id,
        botId: id,
        bot: z.string(),
        steamTradeId: z.string(),
        partnerSteamId: z.string(),
        begunAt: time,
        seenAt: time,
        stage: z.enum(['under_way', 'gone', 'called_off', 'returned']),
        explanation: z.enum(['destination', 'own_bot', 'moved', 'operator']).nullable(),
        destination: z.string().nullable(),
        items: z.array(
          z.strictObject({
            appId: z.int(),
            assetId: z.string(),
            newAssetId: z.string().nullable(),
            marketHashName: z.string().nullable(),
            isBack: z.boolean(),
          }),
        ),
      }),
    ),
    next: id.nullable(),
  }),
  'items explain': z.strictObject({
    departureId: id,
    bot: z.string(),
    steamTradeId: z.string(),
    partnerSteamId: z.string(),
  }),
  'store add': z.strictObject({ storeId: id, apiKey: z.string(), webhookSecret: z.string().nullable() }),
  'store update': z.strictObject({ storeId: id, webhookSecret: z.string().nullable() }),
  'store allow-address': z.strictObject({ storeId: id, address: z.string(), inside: z.boolean() }),
  'store forbid-address': z.strictObject({ storeId: id, address: z.string() }),
  'store free-room': z.strictObject({ storeId: id, trades: z.int() }),
  'store show': z.strictObject({
    storeId: id,
    name: z.string(),
    createdAt: time,
    origins: z.array(z.string()),
    creditMode: z.enum(['on_accept', 'on_release']),
    riskLimit: amount,
    liability: z.enum(['operator', 'store']),
    accent: z.string().nullable(),
    keys: z.array(
      z.strictObject({
        keyId: z.string(),
        name: z.string(),
        scopes,
        createdAt: time,
        lastUsedAt: time.nullable(),
        expiresAt: time.nullable(),
        revokedAt: time.nullable(),
        unused: z.boolean(),
        endsSoon: z.boolean(),
      }),
    ),
    endpoints: z.array(
      z.strictObject({
        endpointId: id,
        url: z.string(),
        eventTypes: z.array(z.string()).nullable(),
        state: z.string(),
        disabledReason: z.string().nullable(),
        previousSecretUntil: time.nullable(),
        createdAt: time,
      }),
    ),
    addresses: z.array(z.strictObject({ address: z.string(), inside: z.boolean(), allowedAt: time })),
    balances: z.array(
      z.strictObject({ currency, availableMinor: minor, heldMinor: minor, reversedMinor: minor }),
    ),
  }),
  'key add': freshKey,
  'key rotate': freshKey,
  'key revoke': z.strictObject({ keyId: z.string() }),
  'key-ring status': z.strictObject({
    fingerprint: z.string(),
    known: z.array(z.string()),
    values: z.int(),
    left: z.int(),
  }),
  'key-ring rotate': z.strictObject({ resealed: z.int(), left: z.int(), unreadable: z.int() }),
  'payout record': z.strictObject({ storeId: id, ...amount.shape, reference: z.string() }),
  'deposit show': z.strictObject({
    depositId: id,
    moments: z.array(
      z.strictObject({
        at: time,
        what: z.string(),
        amountMinor: minor.nullable(),
        currency: currency.nullable(),
      }),
    ),
  }),
  'trade list': z.strictObject({
    trades: z.array(
      z.strictObject({
        tradeId: id,
        depositId: id,
        botId: id,
        bot: z.string(),
        botState: z.string(),
        state: z.string(),
        reason: z.string().nullable(),
        partnerSteamId: z.string(),
        secretCode: z.string(),
        offerId: z.string().nullable(),
        steamTradeId: z.string().nullable(),
        createdAt: time,
        acceptedAt: time.nullable(),
        until: time.nullable(),
      }),
    ),
  }),
  'trade end': changedTrade,
  'trade credit': changedTrade,
  'trade release': changedTrade,
  'trade reverse': changedTrade,
  'shopper deny': deniedShopper,
  'shopper allow': z.strictObject({ steamId: z.string() }),
  'shopper list': z.strictObject({ shoppers: z.array(deniedShopper) }),
  'shopper erase': z.strictObject({
    deposits: z.int(),
    trades: z.int(),
    keptDeposits: z.int(),
    keptEvents: z.int(),
    isDenied: z.boolean(),
  }),
  'price show': z.strictObject({
    game,
    item: z.string(),
    sources: z.array(
      z.strictObject({
        source: z.string(),
        usdMicros: z.int(),
        levelUsdMicros: z.int().nullable(),
        popularity: z.int(),
        popularityKind: z.enum(['sales7d', 'sales30d', 'listings']),
        asOf: time,
        earlier: z.strictObject({ usdMicros: z.int(), asOf: time }).nullable(),
        fresh: z.boolean(),
      }),
    ),
    holds: z.array(hold),
    worthUsdMicros: z.int().nullable(),
    credit: amount.nullable(),
    unavailable: z.string().nullable(),
  }),
  'price block': hold,
  'price freeze': hold,
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
  'ledger verify': z.strictObject({
    entries: z.int(),
    differences: z.array(z.strictObject({ problem: z.string(), detail: z.string() })),
  }),
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
