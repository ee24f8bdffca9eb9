import { type CallCounts, createCallCounts } from './bots/call-counts.ts'
import type { Config } from './config.ts'
import type { TillClock } from './kit/clock.ts'
import type { Metrics } from './metrics.ts'
import type { Steam } from './steam/steam.ts'
import { createSandboxAgent } from './steam/web/agent.ts'
import { createLazySteam } from './steam/web/lazy-steam.ts'

const LIVE_IMAGES = 'https://community.fastly.steamstatic.com'
const LIVE_AVATARS = 'https://avatars.steamstatic.com'
const LIVE_COMMUNITY = 'https://steamcommunity.com'

export type SteamParts = {
  steam: Steam
  communityUrl: string
  imageBase: string
  imageOrigins: string[]
  /** Sets the number of gateways. All are assumed to share this IP address, and so Steam's limits on its requests. */
  shareAddress(gateways: number): void
  calls: CallCounts
}

export function createSteam(
  { mode, steamSandboxUrl }: Config,
  clock: TillClock,
  metrics: Pick<Metrics, 'steam'>,
): SteamParts {
  let gatewayCount = 1
  const calls = createCallCounts(metrics.steam)
  const gateways = () => gatewayCount
  const shareAddress = (count: number) => {
    gatewayCount = count
  }
  if (steamSandboxUrl === undefined) {
    return {
      steam: createLazySteam({ observer: calls, gateways }),
      communityUrl: LIVE_COMMUNITY,
      imageBase: LIVE_IMAGES,
      imageOrigins: [LIVE_IMAGES, LIVE_AVATARS],
      shareAddress,
      calls,
    }
  }
  const base = new URL(steamSandboxUrl).origin
  const redirect = createSandboxAgent(mode, base)
  const common = { clock, observer: calls, gateways }
  const steam = createLazySteam({ redirect, imageBase: base, communityBase: base, ...common })
  return { steam, communityUrl: base, imageBase: base, imageOrigins: [base], shareAddress, calls }
}
