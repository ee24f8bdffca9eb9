/** The port with its libraries read when they are first needed: they are a third of all code of the process. */
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
  // What was compiled is kept at once, where it is kept at all: a process that is killed keeps nothing.
  flushCompileCache()
  return createWebSteam(options)
}
