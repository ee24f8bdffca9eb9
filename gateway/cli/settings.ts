/** The settings of a command, and the database that they lead to. */
import { type Config, readConfig, refusalOf } from '../config.ts'
import { runningDatabase } from '../db/connection-file.ts'
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
  return { config, url: config.databaseUrl ?? runningDatabase(config.dataDir)?.url }
}
