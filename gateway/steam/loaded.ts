/** The port with its libraries read when they are first needed: they are a third of all code of the process. */
import type { Steam } from './steam.ts'
import type { WebSteamOptions } from './web.ts'

export function createLoadedSteam(options: WebSteamOptions = {}): Steam {
  let loading: Promise<Steam> | undefined
  const steam = (): Promise<Steam> => {
    loading ??= import('./web.ts').then(({ createWebSteam }) => createWebSteam(options))
    return loading
  }
  return {
    openSession: async (refreshToken) => (await steam()).openSession(refreshToken),
    readProfile: async (steamId) => (await steam()).readProfile(steamId),
  }
}
