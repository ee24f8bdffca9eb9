/** The `--json` output of `find`, and of most commands on deposits, trades and items. */
import { z } from 'zod'
import { currency, game, id, minor, shopperRecord, time } from './shapes.ts'

const changedTrade = z.strictObject({
  tradeId: id,
  depositId: id,
  state: z.string(),
  depositStatus: z.string(),
  steamTradeId: z.string().nullable(),
})
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

export const listedDeposit = z.strictObject({
  depositId: id,
  storeId: id,
  store: z.string(),
  externalId: z.string(),
  status: z.string(),
  currency,
  amountMinor: minor.nullable(),
  heldMinor: minor,
  reversedMinor: minor,
  steamId: z.string().nullable(),
  game: game.nullable(),
  createdAt: time,
})
const needs = z.array(z.enum(['bot_away', 'steam_silent', 'credit_waits']))

const addedWishes = z.strictObject({ wishes: z.array(id), items: z.int() })

export const DEPOSIT_SHAPES: Record<string, z.ZodObject> = {
  'deposit hold': z.strictObject({ depositId: id, creditMode: z.enum(['on_accept', 'on_release']) }),
  'deposit release': z.strictObject({
    depositId: id,
    tradeIds: z.array(id),
    releasedMinor: minor,
    currency,
  }),
  'trade look': changedTrade,
  find: z.strictObject({
    deposits: z.array(listedDeposit.extend({ as: z.array(z.string()) })),
    shoppers: z.array(
      z.strictObject({
        steamId: z.string(),
        name: z.string().nullable(),
        isDenied: z.boolean(),
        isBot: z.boolean(),
      }),
    ),
    stores: z.array(z.strictObject({ storeId: id, name: z.string() })),
    bots: z.array(z.strictObject({ botId: id, name: z.string(), steamId: z.string(), state: z.string() })),
    items: z.array(z.strictObject({ game, item: z.string() })),
    events: z.array(
      z.strictObject({
        eventId: z.string(),
        storeId: id,
        type: z.string(),
        sequence: id.nullable(),
        depositId: id.nullable(),
        createdAt: time,
        deliveries: z.array(
          z.strictObject({
            deliveryId: id,
            endpointId: id,
            state: z.string(),
            attempts: z.int(),
            lastResult: z.string().nullable(),
          }),
        ),
      }),
    ),
    departures: z.array(
      z.strictObject({
        departureId: id,
        bot: z.string(),
        partnerSteamId: z.string(),
        steamTradeId: z.string(),
      }),
    ),
    isCut: z.boolean(),
  }),
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
  'items send': addedWishes,
  'items return': addedWishes,
  'items wishes': z.strictObject({
    wishes: z.array(
      z.strictObject({
        wishId: id,
        kind: z.enum(['send', 'return']),
        bot: z.string(),
        botSteamId: z.string(),
        destination: z.string().nullable(),
        depositId: id.nullable(),
        askedBy: z.enum(['operator', 'rule']),
        createdAt: time,
        isOpen: z.boolean(),
        items: z.array(z.strictObject({ appId: z.int(), assetId: z.string() })),
        state: z.enum(['waiting', 'refused', 'intended', 'offered', 'delivered', 'ended']).nullable(),
        because: z.string().nullable(),
        offerId: z.string().nullable(),
        steamTradeId: z.string().nullable(),
      }),
    ),
    next: id.nullable(),
    rule: z.strictObject({ destination: z.string(), keep: z.int() }).nullable(),
  }),
  'items unwish': z.strictObject({ wishId: id }),
  'items rule': z.strictObject({
    rule: z.strictObject({ destination: z.string(), keep: z.int() }).nullable(),
  }),
  'items moved': z.strictObject({
    moved: z.array(z.string()),
    refused: z.array(z.strictObject({ item: z.string(), message: z.string() })),
  }),
  'items unmoved': z.strictObject({
    unmoved: z.array(z.string()),
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
        explanation: z.enum(['destination', 'own_bot', 'vault', 'moved', 'operator']).nullable(),
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
  'deposit list': z.strictObject({
    deposits: z.array(listedDeposit.extend({ needs })),
    next: id.nullable(),
  }),
  'deposit show': listedDeposit.extend({
    needs,
    shopper: z.strictObject(shopperRecord).nullable(),
    next: z.array(z.strictObject({ at: time.nullable(), what: z.string() })),
    can: z.array(
      z.strictObject({ act: z.string(), command: z.string(), does: z.string(), from: time.nullable() }),
    ),
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
    isCut: z.boolean(),
  }),
  'trade end': changedTrade,
  'trade credit': changedTrade,
  'trade release': changedTrade,
  'trade reverse': changedTrade,
  'items drift': z.strictObject({
    bots: z.array(
      z.strictObject({
        botId: id,
        bot: z.string(),
        botSteamId: z.string(),
        lookedAt: time.nullable(),
        wholeAt: time.nullable(),
        isAsked: z.boolean(),
        leftOut: z.int(),
        drift: z.array(
          z.strictObject({
            kind: z.enum(['missing', 'foreign', 'unnamed']),
            item: z.string().nullable(),
            appId: z.int(),
            assetId: z.string().nullable(),
            marketHashName: z.string(),
            firstSeenAt: time,
            seenAt: time,
            isSure: z.boolean(),
          }),
        ),
      }),
    ),
  }),
}
