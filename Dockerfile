# docker build -t portico .
FROM node:24-alpine AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build
# The drivers of servers, Redis and mail are not installed with the package. Their versions come from the lockfile too.
RUN node scripts/with-drivers.mjs pg mysql2 bullmq ioredis nodemailer
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:24-alpine
WORKDIR /app
ENV NODE_ENV=production SERVICE_HOST=0.0.0.0 MCP_SERVER_PORT=3931
COPY --from=build /build/package.json /build/LICENSE ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
RUN mkdir .portico && chown node:node .portico && chmod +x dist/cli/main.js && ln -s /app/dist/cli/main.js /usr/local/bin/portico
USER node
VOLUME /app/.portico
EXPOSE 3931
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.MCP_SERVER_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["portico"]
CMD ["start"]
