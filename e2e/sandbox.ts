/** What tests ask the Steam sandbox for, over its control calls. */

export type Player = { name: string; steamId: string; tradeUrl: string }
export type SandboxOffer = {
  id: string
  message: string
  state: number
  partner: string
  items: { assetId: string }[]
}

export async function players(sandbox: string): Promise<Player[]> {
  return (await fetch(`${sandbox}/control/players`)).json() as Promise<Player[]>
}

export async function player(sandbox: string, name = 'nova_hound'): Promise<Player> {
  const found = (await players(sandbox)).find((each) => each.name === name)
  if (found === undefined) throw new Error(`the sandbox has no ${name}`)
  return found
}

export async function offers(sandbox: string): Promise<SandboxOffer[]> {
  return (await fetch(`${sandbox}/control/offers`)).json() as Promise<SandboxOffer[]>
}

export async function answerOffer(
  sandbox: string,
  offerId: string,
  answer: 'accept' | 'decline',
): Promise<void> {
  const response = await fetch(`${sandbox}/control/offers/${offerId}/${answer}`, { method: 'POST' })
  if (!response.ok) throw new Error(`the sandbox refused to ${answer} offer ${offerId}`)
}

export async function botTokens(sandbox: string): Promise<string[]> {
  const bots = (await (await fetch(`${sandbox}/control/bots`)).json()) as { refreshToken: string }[]
  return bots.map((bot) => bot.refreshToken)
}
