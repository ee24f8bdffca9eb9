import { createServer } from 'node:http'
import { createFaults, type FaultName } from './faults.ts'
import type { Currency } from './games.ts'
import { createKeeper } from './keeper.ts'
import { createLimits } from './limits.ts'
import { lookAtSteam } from './look.ts'
import { createPrices } from './prices.ts'
import { takeBack } from './routes/control.ts'
import type { Market } from './sandbox.ts'
import { serve } from './serve.ts'
import { createSteamSide, type SteamSide } from './steam.ts'
import { STEAM_BEHAVIOURS } from './world/buyers.ts'
import { buyItems } from './world/deals.ts'
import { banAccount, openAccount } from './world/sellers.ts'
import { type Buyer, emptyWorld, type Temper } from './world/world.ts'

type Options = {
  /** 0 chooses a free one. */
  port: number
  /** The Steam sandbox in which sellers and buyers trade. */
  steamUrl: string
  /** The machine's clock, in milliseconds since 1970. */
  clock?: () => number
  pause?: (ms: number) => Promise<void>
  /** The file that keeps the world between runs; without it nothing is kept. */
  dataFile?: string
  /** The prices of other sellers here. */
  pricesFile?: string
  /** How often it looks at Steam automatically; 0 means never. */
  everyMs?: number
}

export type RunningMarket = Awaited<ReturnType<typeof startMarket>>

/** Starts a market on 127.0.0.1. Rejects if the port is taken or a file cannot be read. */
export async function startMarket({ port, everyMs = 1000, ...options }: Options) {
  const market = createMarket(options)
  const { keeper } = market
  const server = createServer((message, response) => {
    serve(message, response, market).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  const listening = typeof address === 'object' && address ? address.port : port
  market.url = `http://localhost:${listening}`
  // Steam's time, before the first request.
  await market.look()
  const timer = everyMs > 0 ? setInterval(() => void market.look(), everyMs) : undefined
  return {
    url: market.url,
    world: market.world,
    log: market.log,
    look: market.look,
    /** Opens an account; resolves to its key. */
    open: (steamId: string, currency: Currency = 'USD'): string =>
      market.change((world) => openAccount(world, { steamId, currency })).key,
    /** Bars an account from selling for this many seconds, as after sales that were not handed over. */
    ban: (steamId: string, seconds: number) =>
      market.change((world) => banAccount(world, steamId, market.nowS() + seconds)),
    buy: market.buy,
    takeBack: (hash: string) => takeBack(market, hash),
    begin: (name: FaultName, times?: number) => market.faults.begin(name, times),
    end: market.faults.end,
    reset: market.reset,
    async close() {
      clearInterval(timer)
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      keeper.save()
    },
  }
}

type Settings = Omit<Options, 'port' | 'everyMs'>

function createMarket({ steamUrl, clock = Date.now, pause = pauseInRealTime, ...files }: Settings) {
  const steam = createSteamSide(steamUrl)
  const keeper = createKeeper(files.dataFile, () => emptyWorld(1_000))
  const nowS = () => Math.floor(clock() / 1000) + keeper.world().aheadS
  const faults = createFaults()
  const limits = createLimits()
  const market: Market & { keeper: typeof keeper } = {
    url: '',
    steamUrl,
    keeper,
    nowS,
    machineMs: clock,
    pause,
    world: keeper.world,
    change(step) {
      const { world, answer } = step(keeper.world(), nowS())
      keeper.keep(world)
      return answer
    },
    reset() {
      faults.clear()
      limits.clear()
      keeper.keep(emptyWorld(1_000))
    },
    steam,
    prices: createPrices(files.pricesFile),
    faults,
    limits,
    log: [],
    look: oneAtATime(() => lookAtSteam(market)),
    async buy(itemIds, temper) {
      const buyer = await buyerOf(market, temper)
      return market.change((world, now) => buyItems(world, { itemIds, buyer }, now))
    },
  }
  return market
}

/** While Steam's sandbox is away, nothing happens here either. */
function oneAtATime(run: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve()
  return () => {
    last = last.then(run).catch(() => {})
    return last
  }
}

/** A player of the Steam sandbox for each temper, invited when first needed. */
async function buyerOf(market: Market, temper: Temper): Promise<Buyer> {
  const known = market.world().buyers.find((buyer) => buyer.temper === temper)
  if (known) return known
  const buyer: Buyer = { ...(await inviteBuyer(market.steam)), temper }
  const behaviour = STEAM_BEHAVIOURS[temper]
  if (behaviour) await market.steam.behave(behaviour, buyer.steamId)
  market.change((world) => ({ world: { ...world, buyers: [...world.buyers, buyer] }, answer: undefined }))
  return buyer
}

function inviteBuyer(steam: SteamSide) {
  return steam.invite('quiet_lynx')
}

function pauseInRealTime(ms: number): Promise<void> {
  return new Promise((resolve) => {
    // An answer that is still delayed must not keep the process alive.
    setTimeout(resolve, ms).unref()
  })
}
