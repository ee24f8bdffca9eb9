/** Calls to the Steam sandbox. Buyers are players there, and sellers give the market their tokens. */
import { request } from 'node:http'
import { z } from 'zod'
import type { Owned } from './world/world.ts'

const DEADLINE_MS = 5_000
const API_HOST = 'api.steampowered.com'

const assetSchema = z.object({ assetId: z.string() })
const offerSchema = z.object({
  id: z.string(),
  sender: z.string(),
  partner: z.string(),
  message: z.string(),
  state: z.number(),
  createdAtS: z.number(),
  updatedAtS: z.number(),
  items: z.array(assetSchema),
  give: z.array(assetSchema),
  tradeId: z.string().optional(),
})
const tradeSchema = z.object({ id: z.string(), status: z.number(), settlesAtS: z.number() })
const playerSchema = z.object({
  name: z.string(),
  steamId: z.string(),
  tradeUrl: z.string(),
})
const inventorySchema = z.object({
  response: z.object({
    assets: z.array(z.object({ assetid: z.string(), classid: z.string() })).optional(),
    descriptions: z
      .array(z.object({ classid: z.string(), market_hash_name: z.string(), tradable: z.number() }))
      .optional(),
    total_inventory_count: z.number().optional(),
  }),
})
const clockSchema = z.object({ aheadS: z.number() })

export type SteamOffer = z.infer<typeof offerSchema>
/** A buyer's act. `accept_held`: accepts while Steam holds what the seller gives. */
export type Reaction = {
  offerId: string
  seller: string
  does: 'accept' | 'decline' | 'counter' | 'accept_held'
}
export type SteamTrade = z.infer<typeof tradeSchema>
export type SteamSide = ReturnType<typeof createSteamSide>

type Call = { method?: string; host?: string; body?: object }
type Answer = { status: number; body: string }

function createCall(url: string) {
  const { hostname, port } = new URL(url)
  return (path: string, { method = 'GET', host, body }: Call = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = {
        host: host ?? `localhost:${port}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      }
      const address = hostname === 'localhost' ? '127.0.0.1' : hostname
      const signal = AbortSignal.timeout(DEADLINE_MS)
      const sent = request({ host: address, port, method, path, headers, signal }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('error', reject)
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
        )
      })
      sent.once('error', reject)
      sent.end(body && JSON.stringify(body))
    })
}

/** All calls reject if the sandbox does not answer. */
export function createSteamSide(url: string) {
  const call = createCall(url)
  const control = async <T>(schema: z.ZodType<T>, path: string, options?: Call): Promise<T> => {
    const { status, body } = await call(`/control/${path}`, options)
    if (status >= 400) throw new Error(`the Steam sandbox answered ${status} to ${path}`)
    return schema.parse(JSON.parse(body))
  }
  return {
    aheadS: async () => (await control(clockSchema, 'clock')).aheadS,
    /** Adds a player with the games, items and behaviour of the shopper called `like`. */
    async invite(like: string) {
      const { tradeUrl, ...player } = await control(playerSchema, 'players', {
        method: 'POST',
        body: { like },
      })
      return { ...player, token: new URL(tradeUrl).searchParams.get('token') ?? '' }
    },
    offers: () => control(z.array(offerSchema), 'offers'),
    trades: () => control(z.array(tradeSchema), 'trades'),
    /** Acts as the offer's recipient. Does nothing if Steam refuses. */
    async act({ offerId, seller, does }: Reaction): Promise<void> {
      const answer = (how: string) => call(`/control/offers/${offerId}/${how}`, { method: 'POST', body: {} })
      if (does !== 'accept_held') return void (await answer(does))
      const hold = (method: 'PUT' | 'DELETE') =>
        control(z.unknown(), 'behaviours/hold-15-days', { method, body: { steamId: seller } })
      await hold('PUT')
      await answer('accept').finally(() => hold('DELETE'))
    },
    /** Reverses all protected trades of an account. */
    reverse: (steamId: string) => control(z.unknown(), `players/${steamId}/reverse`, { method: 'POST' }),
    /** True if the Web API accepts the token, and the token belongs to this account. */
    async isTokenOf(token: string, steamId: string): Promise<boolean> {
      const path = `/IEconService/GetTradeOffersSummary/v1/?access_token=${encodeURIComponent(token)}`
      return subjectOf(token) === steamId && (await call(path, { host: API_HOST })).status === 200
    },
    /** Reads an inventory. Resolves to undefined if Steam does not show it. */
    async inventory(token: string, steamId: string, appId: number): Promise<Owned[] | undefined> {
      const query = new URLSearchParams({
        access_token: token,
        steamid: steamId,
        appid: String(appId),
        contextid: '2',
        get_descriptions: '1',
        count: '2000',
      })
      const path = `/IEconService/GetInventoryItemsWithDescriptions/v1/?${query}`
      const { status, body } = await call(path, { host: API_HOST })
      if (status !== 200) return undefined
      const {
        assets,
        descriptions = [],
        total_inventory_count,
      } = inventorySchema.parse(JSON.parse(body)).response
      if (total_inventory_count === undefined) return undefined
      return (assets ?? []).flatMap(({ assetid: assetId, classid: classId }) => {
        const description = descriptions.find(({ classid }) => classid === classId)
        return description
          ? [{ assetId, classId, name: description.market_hash_name, tradable: description.tradable === 1 }]
          : []
      })
    },
  }
}

/** The account in the token, whose signature is not checked. */
function subjectOf(token: string): string | undefined {
  const [, claims = ''] = token.split('.')
  return /"sub":"(\d+)"/.exec(Buffer.from(claims, 'base64url').toString())?.[1]
}
