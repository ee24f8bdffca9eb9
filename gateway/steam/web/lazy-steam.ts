/** Loads the port's libraries on first use, because they are a third of the code of the process. */
import { flushCompileCache } from 'node:module'
import type { Steam } from '../steam.ts'
import type { WebSteamOptions } from './web-steam.ts'

export function createLazySteam(options: WebSteamOptions = {}): Steam {
  let loading: Promise<Steam> | undefined
  const steam = (): Promise<Steam> => {
    loading ??= load(options)
    return loading
  }
  return {
    openSession: async (refreshToken) => (await steam()).openSession(refreshToken),
    readProfile: async (steamId) => (await steam()).readProfile(steamId),
  }
}

async function load(options: WebSteamOptions): Promise<Steam> {
  const { createWebSteam } = await import('./web-steam.ts')
  // Write the compile cache now, if it is enabled. A process that is killed later would not write it.
  flushCompileCache()
  return createWebSteam(options)
}
