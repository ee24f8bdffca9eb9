/** Obtains a bot's refresh token by one login. Only the token is kept. */
import type { Config } from '../config.ts'
import { createLiveAgent, createSandboxAgent } from '../steam/web/agent.ts'
import { type LoginWay, obtainToken, type TokenAnswer } from '../steam/web/enrol.ts'
import { type Refused, refused } from './operation.ts'

const NOT_LOGGED_IN: Record<Extract<TokenAnswer, { kind: 'refused' }>['reason'], string> = {
  wrong_password: 'Steam does not know this account name with this password.',
  wrong_code: 'Steam did not accept the code of the authenticator.',
  not_confirmed: 'The login was not confirmed in time.',
}

export async function obtainRefreshToken(
  { mode, steamSandboxUrl }: Pick<Config, 'mode' | 'steamSandboxUrl'>,
  way: LoginWay,
): Promise<{ kind: 'token'; refreshToken: string } | Refused> {
  const agent = steamSandboxUrl === undefined ? createLiveAgent() : createSandboxAgent(mode, steamSandboxUrl)
  const answer = await obtainToken(agent, way)
  if (answer.kind === 'refused') return refused('conflict', NOT_LOGGED_IN[answer.reason])
  if (answer.kind === 'unavailable') return refused('unavailable', `The login failed: ${answer.detail}`)
  return { kind: 'token', refreshToken: answer.refreshToken }
}
