export const itemConditions = {
  en: 'We accept items worth more than $0.10 that are popular among players and free of trade restrictions.',
  ru: 'Подходят предметы дороже 5 рублей, популярные среди игроков и без ограничений на обмен.',
}
