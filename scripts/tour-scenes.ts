/** The scenes of the tour. Each ends with a summary of what happened, and links to where it can be seen. */
import type { Payment } from '../contract/widget-api.ts'
import { DEFAULT_PROTECTION_DAYS } from '../gateway/config.ts'
import type { OpenOffer, Stage } from './tour-stage.ts'

type Link = { label: string; url: string }

type Played = { summary: string; links: Link[] }

type Scene = {
  name: string
  title: string
  /** A description of the scene, shown before it is played. */
  line: string
  play(stage: Stage): Promise<Played>
}

const DAY_HOURS = 24
const PROTECTION_DAYS = DEFAULT_PROTECTION_DAYS.cs

const dollars = (minor: number): string => `$${(minor / 100).toFixed(2)}`

const isPaid = ({ status }: Payment): boolean => status === 'succeeded'

async function pay(stage: Stage, offer: OpenOffer): Promise<Payment> {
  await stage.accept(offer.offerId)
  return stage.until(offer.shopper, isPaid)
}

function linksOf({ urls }: Stage, { id, hash }: Payment, storeShows: string): Link[] {
  return [
    { label: `The store: ${storeShows}`, url: `${urls.store}/` },
    { label: 'The page of the shopper', url: `${urls.gateway}/deposit/${hash}` },
    {
      label: 'The deposit in the console (first enter the console with the link in your terminal)',
      url: `${urls.console}/deposits/${id}`,
    },
  ]
}

async function hold(stage: Stage): Promise<OpenOffer> {
  const offer = await stage.topUp({ isHeld: true })
  await pay(stage, offer)
  stage.memory.held = offer
  return offer
}

async function release(stage: Stage): Promise<Played> {
  const { shopper } = stage.memory.held ?? (await hold(stage))
  await stage.advance(PROTECTION_DAYS * DAY_HOURS)
  const payment = await stage.until(shopper, ({ heldAmount }) => heldAmount === 0)
  stage.memory.held = undefined
  return {
    summary: `${PROTECTION_DAYS} days passed. The shopper can no longer take the items back, so ${dollars(payment.amount ?? 0)} was released.`,
    links: linksOf(stage, payment, 'nothing of that top-up is on hold any longer'),
  }
}

async function reverse(stage: Stage): Promise<Played> {
  const offer = await stage.topUp()
  const payment = await pay(stage, offer)
  await stage.sandbox('POST', `/control/players/${offer.account.steamId}/reverse`)
  await stage.advance(DAY_HOURS)
  const { reversedAmount } = await stage.untilReversed(payment.id)
  return {
    summary: `The shopper paid ${dollars(offer.amount)}, was credited, and took the items back on Steam. A day later the till noticed, and told the store to take ${dollars(reversedAmount)} back.`,
    links: [
      ...linksOf(stage, payment, 'the top-up is marked as taken back, and the balance fell'),
      { label: 'Shoppers in the console: this account is remembered', url: `${stage.urls.console}/shoppers` },
    ],
  }
}

async function attemptScam(stage: Stage): Promise<Played> {
  const { shopper, offerId } = await stage.topUp({ items: 2 })
  await stage.sandbox('POST', `/control/offers/${offerId}/counter`)
  const payment = await stage.until(shopper, ({ status }) => status === 'tradeCountered')
  const answer = await fetch(`${stage.urls.store}/webhooks/tradetill`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'forged',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': 'v1,Zm9yZ2Vk',
    },
    body: JSON.stringify({ type: 'deposit.succeeded', data: { id: payment.id, amount: 999_999 } }),
    signal: AbortSignal.timeout(10_000),
  })
  return {
    summary: `Instead of accepting, the shopper sent the offer back with fewer items: the till refused it. Then they told the store themselves that \`deposit ${payment.id}\` was paid: the store answered ${answer.status}, because the signature is not the till’s.`,
    links: linksOf(stage, payment, 'the top-up says “Counteroffer refused”, and the balance did not move'),
  }
}

async function barBot(stage: Stage): Promise<Played> {
  const refusedBot = await stage.firstChoice()
  const behaviour = '/control/behaviours/send-new-device'
  await stage.sandbox('PUT', behaviour, { steamId: refusedBot.steamId })
  const offer = await stage.topUp().finally(() => stage.sandbox('DELETE', behaviour))
  if (offer.bot === refusedBot.name) throw new Error('Steam refused no bot. Play the scene again.')
  const payment = await pay(stage, offer)
  return {
    summary: `Steam refused ${refusedBot.name}, as it does after a login from a new device. That bot now rests. ${offer.bot} sent the offer, and the shopper noticed no delay.`,
    links: [
      {
        label: 'Bots in the console: one of them rests after Steam’s refusal',
        url: `${stage.urls.console}/bots`,
      },
      ...linksOf(stage, payment, 'credited as always'),
    ],
  }
}

async function killGateway(stage: Stage): Promise<Played> {
  const offer = await stage.topUp()
  const { ready } = await stage.killGateway()
  await stage.accept(offer.offerId)
  await ready
  const payment = await stage.until(offer.shopper, isPaid)
  return {
    summary: `The gateway was killed with \`kill -9\` while the offer was open, and the shopper accepted while it was dead. It came back, asked Steam, and credited ${dollars(payment.amount ?? 0)} once.`,
    links: [
      ...linksOf(stage, payment, 'one credit'),
      { label: 'Money in the console: the ledger check', url: `${stage.urls.console}/money` },
    ],
  }
}

export const SCENES: readonly Scene[] = [
  {
    name: 'paid',
    title: 'Paid',
    line: 'A shopper pays with an item, and the store is credited at once.',
    async play(stage) {
      const offer = await stage.topUp()
      const payment = await pay(stage, offer)
      return {
        summary: `A shopper gave an item worth ${dollars(payment.amount ?? 0)} to ${offer.bot}, and the store credited it.`,
        links: linksOf(stage, payment, 'the balance rose, and the top-up is at the top of the list'),
      }
    },
  },
  {
    name: 'held',
    title: 'Held',
    line: 'Steam lets a shopper take Counter-Strike items back for some days. Here the store waits until those days have passed.',
    async play(stage) {
      const { shopper } = await hold(stage)
      const payment = await shopper.payment()
      return {
        summary: `${dollars(payment.heldAmount)} is on hold until ${payment.heldUntil?.slice(0, 10)}: the bot has the items, and the money cannot be spent yet.`,
        links: linksOf(stage, payment, 'the amount is “on hold”, not in the balance'),
      }
    },
  },
  {
    name: 'released',
    title: 'Released',
    line: `${PROTECTION_DAYS} days pass in a moment, and the amount on hold is released.`,
    play: release,
  },
  {
    name: 'reversed',
    title: 'Reversed',
    line: 'A shopper is credited, and then takes the trade back on Steam.',
    play: reverse,
  },
  {
    name: 'scam',
    title: 'A foiled scam',
    line: 'A shopper sends the offer back with fewer items, and then tells the store that it was paid.',
    play: attemptScam,
  },
  {
    name: 'barred-bot',
    title: 'A barred bot',
    line: 'Steam refuses a bot in the middle of a payment. The shopper notices nothing.',
    play: barBot,
  },
  {
    name: 'killed-gateway',
    title: 'A killed gateway',
    line: 'The gateway dies while an offer is open, and the shopper accepts in the meantime. This scene takes half a minute, because the leases of a dead gateway must run out.',
    play: killGateway,
  },
]
