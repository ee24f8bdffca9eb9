import { type Answers, type Base, type Scene, type Step, standAnswers } from './scene.ts'

const withoutShopper = (base: Base): Answers => ({
  ...standAnswers(base),
  payment: { ...base.payment, user: null },
})

const A_LINK = 'https://steamcommunity.com/tradeoffer/new/?partner=1204160600&token=qsXgz_8b'

/** Types a well-formed trade link. */
const giveLink: Step = async (page, texts) => {
  await page.getByRole('textbox', { name: texts.tradeLink }).fill(A_LINK)
  await page.clock.runFor(800)
}

/** The scenes of a shopper who gives a trade link. */
export const LINK: Scene[] = [
  {
    name: 'guide',
    answers: withoutShopper,
    steps: (page, texts) => page.getByRole('heading', { name: texts.guideTitle }).waitFor(),
  },
  {
    name: 'guide-stored',
    storedLink: A_LINK,
    answers: withoutShopper,
    steps: (page, texts) => page.getByRole('button', { name: texts.tradeLinkContinue }).waitFor(),
  },
  {
    name: 'guide-checking',
    answers: (base) => ({ ...withoutShopper(base), link: 'never' }),
    steps: giveLink,
  },
  {
    name: 'guide-failed',
    answers: (base) => ({ ...withoutShopper(base), link: { status: 422, code: 'user_not_found' } }),
    steps: async (page, texts) => {
      await giveLink(page, texts)
      await page.getByRole('button', { name: texts.retry }).waitFor()
    },
  },
  {
    name: 'guide-offline',
    answers: withoutShopper,
    steps: async (page, texts) => {
      await page.context().setOffline(true)
      await page.getByText(texts.offline).waitFor()
    },
  },
  {
    name: 'guide-invalid',
    answers: withoutShopper,
    steps: (page, texts) =>
      page.getByRole('textbox', { name: texts.tradeLink }).fill('https://steamcommunity.com/id/somebody'),
  },
  {
    name: 'guide-maintenance',
    answers: (base) => ({
      ...standAnswers(base),
      payment: {
        ...base.payment,
        user: null,
        technicalWorks: true,
        timeLeft: null,
        technicalWorksText: { en: 'We are moving to a new server.', ru: 'Мы переезжаем на новый сервер.' },
        technicalWorksUntil: '2026-11-26T04:00:00.000Z',
      },
    }),
    steps: (page) => page.getByText(/We are moving|Мы переезжаем/).waitFor(),
  },
]
