# One image; docker-compose.yml starts it as web, worker and beat.
FROM python:3.12-slim
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 QUIRE_VAR=/var/lib/quire
WORKDIR /quire
COPY pyproject.toml README.md ./
RUN pip install --no-cache-dir .
COPY . .
RUN useradd --system --home /var/lib/quire quire && mkdir -p /var/lib/quire && chown quire /var/lib/quire \
    && SECRET_KEY=only-for-collecting python manage.py collectstatic --no-input --verbosity 0 \
    && chown -R quire /var/lib/quire
USER quire
EXPOSE 8000
CMD ["gunicorn", "config.wsgi", "--bind", "0.0.0.0:8000", "--workers", "2", "--threads", "4"]
