import { createServer } from 'node:http'
import { createFaults, type PlainFault } from './faults.ts'
import { createKeeper, type Keeper } from './keeper.ts'
import { createPlayer, type Player } from './player.ts'
import { createQuotas, TIGHT_QUOTAS } from './quotas.ts'
import { switchOff, switchOn } from './routes/changes.ts'
import { advance, type Pause, type Sandbox } from './sandbox.ts'
import { serve } from './serve.ts'
import { createTour } from './tour.ts'
import { addBot, inviteGuest } from './world/guests.ts'
import { seedWorld } from './world/seed.ts'
import { advanceTo } from './world/time.ts'

type Options = {
  /** 0 chooses a free port. */
  port: number
  seed?: string
  /** The machine's clock, in milliseconds since 1970. */
  clock?: () => number
  /** Delays answers; in real time by default. */
  pause?: Pause
  /** The file that keeps the world between runs; without it nothing is kept. */
  dataFile?: string
  /** True if Steam's limits on requests apply, which is the default. */
  quotas?: boolean
  /** Called with the scene of the tour that a visitor wants to see. */
  onScene?: (name: string) => void
}

type FaultOptions = Pick<PlainFault, 'match' | 'effect'> & Partial<PlainFault>

export type RunningSteam = Awaited<ReturnType<typeof startSteam>>

/** Starts a simulated Steam on 127.0.0.1. Rejects if the port is taken or the data file cannot be read. */
export async function startSteam({
  port,
  seed = 'tradetill',
  clock = Date.now,
  pause = pauseInRealTime,
  dataFile,
  quotas = true,
  onScene = () => {},
}: Options) {
  const sandbox = createSandbox({ seed, clock, pause, dataFile, quotas, onScene })
  const { keeper } = sandbox
  const server = createServer((message, response) => {
    serve(message, response, sandbox).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  const listeningPort = typeof address === 'object' && address ? address.port : port
  sandbox.url = `http://localhost:${listeningPort}`
  return {
    url: sandbox.url,
    port: listeningPort,
    world: sandbox.world,
    /** Applies a pure change to the world, without an HTTP request. */
    change: sandbox.change,
    reset: sandbox.reset,
    /** Stands in for the account with this name or Steam id. Throws if there is none. */
    as: (player: string): Player => createPlayer(sandbox, player),
    /** Switches a behaviour on, for all or one account. `times`: after how many requests a bad day ends. */
    begin(name: string, options: { steamId?: string; times?: number } = {}) {
      if (switchOn(sandbox, name, options).status !== 200)
        throw new Error(`There is no behaviour called ${name}.`)
    },
    end: (name: string, steamId?: string) => void switchOff(sandbox, name, { steamId }),
    /** Makes the next matching requests fail, as the control API does. */
    fault: ({ times = 1, delayMs = 0, ...fault }: FaultOptions) =>
      sandbox.faults.add({ ...fault, times, delayMs }),
    /** Adds a bot, and returns its Steam id. Throws if there is no room. */
    addBot(): string {
      const bot = sandbox.change(addBot)
      if (bot === undefined) throw new Error('There is no room for another bot.')
      return bot.steamId
    },
    /** Adds a copy of the shopper called `like`. Throws for an unknown name, and if there is no room. */
    invite(like: string): Player {
      const guest = sandbox.change((world) => inviteGuest(world, like))
      if (guest === undefined) throw new Error(`There is no shopper called ${like}, or no room.`)
      return createPlayer(sandbox, guest.steamId)
    },
    /** Advances the sandbox's time. Everything that is due by then happens. */
    advance: (seconds: number) => advance(sandbox, seconds),
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      keeper.save()
    },
  }
}

function pauseInRealTime(ms: number): Promise<void> {
  return new Promise((resolve) => {
    // An answer that is still delayed must not keep the process alive.
    if (Number.isFinite(ms)) setTimeout(resolve, ms).unref()
  })
}

type Settings = Required<Pick<Options, 'seed' | 'clock' | 'pause' | 'quotas' | 'onScene'>> & {
  dataFile: string | undefined
}

function createSandbox(settings: Settings): Sandbox & { keeper: Keeper } {
  const { seed, clock, pause, dataFile, quotas, onScene } = settings
  const keeper = createKeeper(dataFile, () => seedWorld(seed, clock()))
  const clockS = () => Math.floor(clock() / 1000)
  const nowS = () => clockS() + keeper.world().aheadS
  const faults = createFaults(nowS)
  const isTight = (caller: string | undefined) => faults.isOn(TIGHT_QUOTAS, caller)
  const limits = createQuotas({ isOn: quotas, isTight, nowS })
  const counts = new Map<string, number>()
  const world = () => {
    keeper.keep(advanceTo(keeper.world(), nowS()))
    return keeper.world()
  }
  return {
    url: '',
    keeper,
    nowS,
    clockS,
    pause,
    world,
    change(step) {
      const { world: next, answer } = step(world(), nowS())
      keeper.keep(next)
      return answer
    },
    reset() {
      faults.clear()
      limits.clear()
      counts.clear()
      keeper.keep(seedWorld(seed, clock()))
    },
    faults,
    quotas: limits,
    log: [],
    counts,
    logins: new Map(),
    tour: createTour(onScene),
  }
}
