/** Acts of the command line that have no case in `gateway/cli/acts.test.ts`, because other tests cover them. */
const actsOf = (noun: string, verbs: string) => verbs.split(' ').map((verb) => `${noun} ${verb}`)

export const ACTS_TESTED_ELSEWHERE = [
  ...actsOf('bot', 'enrol add renew'),
  ...actsOf('trade', 'look end credit release reverse'),
  ...actsOf('store', 'free-room disable enable credit debit write-off'),
  ...actsOf('items', 'moved unmoved drift sold send return unwish rule'),
  ...actsOf('webhook', 'remove replay rotate'),
  ...actsOf('operator', 'add link remove'),
  ...actsOf('proposal', 'decline limit'),
  ...[
    'clock advance',
    'payout void',
    'deposit hold',
    'deposit release',
    'shopper trust',
    'price override',
    'key-ring forget',
  ],
]
