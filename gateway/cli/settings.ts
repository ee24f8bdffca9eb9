/** The settings of a command, and the database that they lead to. */
import { type Config, DEFAULT_STEAM_SANDBOX_URL, readConfig, refusalOf } from '../config.ts'
import { type Connection, runningDatabase } from '../db/connection-file.ts'
import { Refusal } from './terminal.ts'

/** DATABASE_URL, or the embedded database of the gateway that runs on the data folder. Throws a Refusal without one. */
export function databaseUrlOf(env: Record<string, string | undefined> | undefined): {
  config: Config
  url: string
} {
  const { config, url } = settingsOf(env)
  if (url === undefined) {
    const advice = 'Start it first, or set DATABASE_URL.'
    throw new Refusal('unreachable', `No gateway is running on ${config.dataDir}. ${advice}`)
  }
  return { config, url }
}

/** The same without a database that runs. */
export function settingsOf(env: Record<string, string | undefined> | undefined): {
  config: Config
  url: string | undefined
} {
  const answer = readConfig(env)
  if (answer.kind === 'refused') throw new Refusal('usage', refusalOf(answer.problems))
  const { config } = answer
  if (config.databaseUrl !== undefined) return { config, url: config.databaseUrl }
  const running = runningDatabase(config.dataDir)
  return { config: withSandboxOf(running, config), url: running?.url }
}

/** A till whose ports were moved has its Steam sandbox elsewhere, and another till's may answer at the usual address. */
function withSandboxOf(running: Connection | undefined, config: Config): Config {
  const steamSandboxUrl = running?.steamSandboxUrl
  return steamSandboxUrl === undefined || config.steamSandboxUrl !== DEFAULT_STEAM_SANDBOX_URL
    ? config
    : { ...config, steamSandboxUrl }
}
